/* read_stl.c: STL, binary and ASCII.
 *
 * A file whose size is 84 + 50 * count is binary, whatever its header says (many begin with "solid"). Else it is
 * ASCII if it begins with the word "solid" and has no zero byte near its beginning; else it is a binary file whose
 * count and size disagree, which is refused. ASCII files may hold several solids: each becomes a group. Facets must
 * have three vertices; normals and attribute bytes are skipped unread.
 *
 * Method: binary facets are copied in parallel. ASCII text is cut at lines that begin with "facet"; threads read the
 * parts into arrays of their own. A part ends at the first place between two facets at or behind its cut, so that
 * each part, and each message, is what reading from the beginning would have given.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "readers.h"
#include "text.h"

enum { HEADER = IO_STL_HEADER, FACET = IO_STL_FACET, FACETS_A_STEP = 4096, BYTES_TO_JUDGE = 512 };

/* ---- binary ---- */

typedef struct binary_stl {
  const unsigned char *facets;
  graze_geometry *geometry;
  uint64_t *bad_facet; /* per step: the first facet with a coordinate that is not finite, or UINT64_MAX */
} binary_stl;

static inline float read_float(const unsigned char *p) {
  uint32_t bits = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint64_t gz_stl_take_facets(const unsigned char *facets, uint64_t count, double *vertices) {
  uint64_t bad = UINT64_MAX;
  for (uint64_t i = 0; i < count; i++) {
    const unsigned char *p = facets + i * FACET + 12;
    double *v = vertices + 9 * i;
    float zero = 0; /* times infinity or NaN: NaN */
    for (int k = 0; k < 9; k++) {
      float x = read_float(p + (size_t)4 * (size_t)k);
      zero += x * 0.0f;
      v[k] = x;
    }
    if (zero != 0 && bad == UINT64_MAX) bad = i;
  }
  return bad;
}

static void read_step(void *argument, uint32_t step) {
  const binary_stl *stl = argument;
  uint64_t count = stl->geometry->triangle_count;
  uint64_t begin = (uint64_t)step * FACETS_A_STEP, last = begin + FACETS_A_STEP < count ? begin + FACETS_A_STEP : count;
  uint64_t bad = gz_stl_take_facets(stl->facets + begin * FACET, last - begin, stl->geometry->vertices + 9 * begin);
  for (uint64_t i = 3 * begin; i < 3 * last; i++) stl->geometry->indices[i] = (uint32_t)i;
  stl->bad_facet[step] = bad == UINT64_MAX ? bad : begin + bad;
}

bool gz_stl_fail_facet(const double *corners, uint64_t facet, io_fault *fault) {
  unsigned k = 0;
  while (isfinite(corners[k])) k++;
  return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_BYTE, HEADER + facet * FACET + 12 + 4 * k,
                    "facet %llu, vertex %u: coordinate %c is %s", (unsigned long long)facet, k / 3, "xyz"[k % 3],
                    isnan(corners[k]) ? "NaN" : "infinite");
}

static bool read_binary(const io_input *input, graze_geometry *geometry, io_fault *fault) {
  uint64_t count = (input->size - HEADER) / FACET;
  if (!gz_io_geometry_set_vertices(geometry, 3 * count, fault) ||
      !gz_io_geometry_set_triangles(geometry, count, fault)) {
    return false;
  }
  size_t steps = (size_t)((count + FACETS_A_STEP - 1) / FACETS_A_STEP);
  binary_stl stl = {(const unsigned char *)input->text + HEADER, geometry,
                    gz_new(fault->context, steps, sizeof(uint64_t))};
  if (stl.bad_facet == NULL) return gz_io_fail_memory(fault);
  gz_parallel_each(fault->context, (uint32_t)steps, read_step, &stl);
  uint64_t bad = UINT64_MAX;
  for (size_t i = 0; i < steps && bad == UINT64_MAX; i++) bad = stl.bad_facet[i];
  gz_free(stl.bad_facet);
  geometry->all_float = geometry->stored_floats = true;
  return bad == UINT64_MAX || gz_stl_fail_facet(geometry->vertices + 9 * bad, bad, fault);
}

/* A file that is neither ASCII nor of the right size. */
static bool fail_size(const io_input *input, io_fault *fault) {
  if (input->size < HEADER) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, input->size,
                      "the file ends within the %d bytes that precede the facets of a binary STL", HEADER);
  }
  const unsigned char *c = (const unsigned char *)input->text + 80;
  uint64_t count = (uint64_t)c[0] | (uint64_t)c[1] << 8 | (uint64_t)c[2] << 16 | (uint64_t)c[3] << 24;
  uint64_t wanted = HEADER + FACET * count;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, wanted < input->size ? wanted : input->size,
                    "the count says %llu facets, that is %llu bytes, but the file has %llu", (unsigned long long)count,
                    (unsigned long long)wanted, (unsigned long long)input->size);
}

/* ---- ASCII ---- */

typedef struct ascii_part {
  const char *p;   /* next character */
  const char *cut; /* stop between two facets at or behind it */
  const char *end; /* of the text */
  uint64_t line;   /* of `p`; the part begins on line 1 */
  bool in_solid;
  io_written written;
  gz_array vertices; /* double[3] */
  gz_array names;    /* io_name */
  uint64_t first_vertex;
  io_fault fault;
} ascii_part;

static void skip_space(ascii_part *part) {
  const char *p = part->p;
  while (p < part->end && io_is_space(*p)) {
    if (io_is_line_end(*p)) {
      part->line++;
      p = io_skip_line_end(p, part->end);
    } else {
      p++;
    }
  }
  part->p = p;
}

/* The end of the next token if it is `word`, in letters of any size; else NULL. */
static inline const char *find_word(ascii_part *part, const char *word, size_t length) {
  skip_space(part);
  const char *p = part->p;
  bool same = (size_t)(part->end - p) > length && memcmp(p, word, length) == 0 && io_is_space(p[length]);
  if (same) return p + length;
  const char *last = io_find_token_end(p, part->end);
  return gz_io_token_is(p, last, word) ? last : NULL;
}

static bool fail_expected(ascii_part *part, const char *expected) {
  const char *last = io_find_token_end(part->p, part->end);
  if (part->p == part->end) {
    return gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "the file ends where \"%s\" should follow",
                      expected);
  }
  return gz_io_fail(&part->fault, GRAZE_ERROR_FORMAT, IO_LINE, part->line, "\"%s\" where \"%s\" should follow",
                    gz_io_quote(part->p, last).text, expected);
}

static inline bool take(ascii_part *part, const char *word, size_t length) {
  const char *last = find_word(part, word, length);
  if (last != NULL) part->p = last;
  return last != NULL;
}

static inline bool expect(ascii_part *part, const char *word, size_t length) {
  return take(part, word, length) || fail_expected(part, word);
}

#define TAKE(part, word)   take(part, word, sizeof(word) - 1)
#define EXPECT(part, word) expect(part, word, sizeof(word) - 1)

static bool read_vertex(ascii_part *part) {
  if (!EXPECT(part, "vertex")) return false;
  double *v = (double *)part->vertices.data + 3 * part->vertices.count;
  for (int k = 0; k < 3; k++) {
    skip_space(part);
    const char *p = gz_io_parse_coordinate(part->p, part->end, ' ', v + k, &part->written, &part->fault, part->line);
    if (p == NULL) return false;
    part->p = p;
  }
  part->vertices.count++;
  return true;
}

/* "normal" and its numbers, which may be anything, "nan" for instance; but the word "facet" begins a facet. */
static void skip_normal(ascii_part *part) {
  if (!TAKE(part, "normal")) return;
  for (int k = 0; k < 3; k++) {
    if (find_word(part, "outer", 5) != NULL || find_word(part, "facet", 5) != NULL) return;
    part->p = io_find_token_end(part->p, part->end);
  }
}

/* Behind "facet". */
static bool read_facet(ascii_part *part) {
  if (!array_reserve(part->fault.context, &part->vertices, 3, 3 * sizeof(double)))
    return gz_io_fail_memory(&part->fault);
  skip_normal(part);
  if (!EXPECT(part, "outer") || !EXPECT(part, "loop")) return false;
  for (int k = 0; k < 3; k++) {
    if (!read_vertex(part)) return false;
  }
  return EXPECT(part, "endloop") && EXPECT(part, "endfacet");
}

/* Behind "solid": the rest of the line is the name. */
static bool begin_solid(ascii_part *part) {
  if (!array_reserve(part->fault.context, &part->names, 1, sizeof(io_name))) return gz_io_fail_memory(&part->fault);
  const char *first = io_skip_blanks(part->p, part->end);
  part->p = io_find_line_end(first, part->end);
  const char *last = part->p;
  while (last > first && io_is_blank(last[-1])) last--;
  io_name name = {first, (size_t)(last - first), part->vertices.count / 3, false};
  ((io_name *)part->names.data)[part->names.count++] = name;
  part->in_solid = true;
  return true;
}

static void read_ascii_part(void *argument, uint32_t index) {
  ascii_part *part = (ascii_part *)argument + index;
  for (;;) {
    skip_space(part);
    if (part->p >= part->cut) return;
    bool good;
    if (!part->in_solid) {
      good = EXPECT(part, "solid") && begin_solid(part);
    } else if (TAKE(part, "endsolid")) {
      part->p = io_find_line_end(part->p, part->end);
      part->in_solid = false;
      good = true;
    } else {
      good = EXPECT(part, "facet") && read_facet(part);
    }
    if (!good) return;
  }
}

/* The first line at or behind `from` that begins with "facet". */
static const char *find_facet_line(const char *begin, const char *from, const char *end) {
  while (from < end) {
    from = gz_io_find_line_start(begin, from, end);
    const char *p = io_skip_blanks(from, end);
    if (gz_io_token_is(p, io_find_token_end(p, end), "facet")) return from;
  }
  return end;
}

/* Facets are numbered through the file only here. */
static bool fail_part(const ascii_part *part, uint64_t lines, uint64_t facets, io_fault *fault) {
  if (part->fault.status == GRAZE_ERROR_MEMORY) return gz_io_fail_memory(fault);
  *fault = part->fault;
  fault->number += lines;
  if (!part->in_solid) return false;
  return gz_io_fail(fault, part->fault.status, IO_LINE, fault->number, "facet %llu: %.200s",
                    (unsigned long long)(facets + part->vertices.count / 3), part->fault.reason);
}

/* Sums up the parts and looks for the first fault. */
static bool check_parts(ascii_part *parts, size_t count, uint64_t *vertices, io_fault *fault) {
  uint64_t lines = 0;
  *vertices = 0;
  for (size_t i = 0; i < count; i++) {
    ascii_part *part = &parts[i];
    bool begun = i == 0 || parts[i - 1].cut < part->end;
    if (begun && i > 0 && !parts[i - 1].in_solid) {
      ascii_part outside = {.p = io_skip_blanks(parts[i - 1].cut, part->end), .end = part->end, .line = 1};
      fail_expected(&outside, "solid");
      return fail_part(&outside, lines, *vertices / 3, fault);
    }
    if (part->fault.status != GRAZE_OK) return fail_part(part, lines, *vertices / 3, fault);
    part->first_vertex = *vertices;
    *vertices += part->vertices.count;
    if (part->p == part->end && part->in_solid && begun) {
      fail_expected(part, "endsolid");
      return fail_part(part, lines, part->first_vertex / 3, fault);
    }
    lines += part->line - 1;
  }
  return true;
}

typedef struct ascii_join {
  const ascii_part *parts;
  graze_geometry *geometry;
} ascii_join;

static void join_part(void *argument, uint32_t index) {
  const ascii_join *join = argument;
  const ascii_part *part = &join->parts[index];
  if (part->vertices.count == 0) return;
  memcpy(join->geometry->vertices + 3 * part->first_vertex, part->vertices.data,
         part->vertices.count * 3 * sizeof(double));
}

static bool join_groups(const ascii_part *parts, size_t count, graze_geometry *geometry, io_fault *fault) {
  gz_array names = {0};
  bool good = true;
  for (size_t i = 0; i < count && good; i++)
    good = gz_io_append_names(fault->context, &names, &parts[i].names, parts[i].first_vertex / 3);
  good = good ? gz_io_geometry_set_groups(geometry, names.data, names.count, fault) : gz_io_fail_memory(fault);
  gz_free(names.data);
  return good;
}

static bool join_parts(ascii_part *parts, size_t count, graze_geometry *geometry, io_fault *fault) {
  uint64_t vertices;
  if (!check_parts(parts, count, &vertices, fault)) return false;
  if (!gz_io_geometry_set_vertices(geometry, vertices, fault) ||
      !gz_io_geometry_set_triangles(geometry, vertices / 3, fault)) {
    return false;
  }
  ascii_join join = {parts, geometry};
  gz_parallel_each(fault->context, (uint32_t)count, join_part, &join);
  gz_io_geometry_number_soup(fault->context, geometry);
  io_written written = {0};
  for (size_t i = 0; i < count; i++) io_written_add(&written, &parts[i].written);
  gz_io_geometry_set_written(geometry, &written);
  return join_groups(parts, count, geometry, fault);
}

static bool read_ascii(const io_input *input, graze_geometry *geometry, io_fault *fault) {
  const char *begin = input->text + gz_io_text_begin(input->text, input->size);
  const char *end = input->text + input->size;
  const size_t count = input->parts;
  ascii_part *parts = gz_new_zeroed(fault->context, count, sizeof *parts);
  if (parts == NULL) return gz_io_fail_memory(fault);
  const char *from = begin;
  for (size_t i = 0; i < count; i++) {
    const char *cut = begin + (size_t)(end - begin) / count * (i + 1);
    const char *last = i + 1 == count ? end : find_facet_line(begin, cut < from ? from : cut, end);
    parts[i] = (ascii_part){
        .p = from, .cut = last, .end = end, .line = 1, .in_solid = i > 0, .fault = gz_io_fault_of_part(fault)};
    from = last;
  }
  gz_parallel_each(fault->context, (uint32_t)count, read_ascii_part, parts);
  bool good = join_parts(parts, count, geometry, fault);
  for (size_t i = 0; i < count; i++) {
    gz_free(parts[i].vertices.data);
    gz_free(parts[i].names.data);
  }
  gz_free(parts);
  return good;
}

static bool is_ascii(const char *text, size_t size) {
  const char *end = text + size;
  const char *p = text + gz_io_text_begin(text, size);
  while (p < end && io_is_space(*p)) p++;
  if (!gz_io_token_is(p, io_find_token_end(p, end), "solid")) return false;
  return memchr(text, 0, size < BYTES_TO_JUDGE ? size : BYTES_TO_JUDGE) == NULL;
}

bool gz_io_read_stl(const io_input *input, graze_geometry *geometry, io_fault *fault) {
  if (gz_io_is_whole_binary_stl(input->text, input->size)) return read_binary(input, geometry, fault);
  if (is_ascii(input->text, input->size)) return read_ascii(input, geometry, fault);
  return fail_size(input, fault);
}
