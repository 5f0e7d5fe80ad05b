/* read_boxes.c: boxes with ids, as CSV text or binary (.gzb).
 *
 * Nothing is skipped and nothing repaired: every line is a box, a binary file is exactly as long as its count says. So
 * a row's number gives its place in the file, and messages about pairs of rows can name both.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "file.h"
#include "rows.h"
#include "text.h"

enum { RECORD_BYTES = 56, NUMBERS = 6, FIELDS = 1 + NUMBERS };

static const char magic[IO_MAGIC_BYTES] = "GRZBOX1";
static const char titles[] = "id,minx,miny,minz,maxx,maxy,maxz";
static const char *const number_names[NUMBERS] = {"minx", "miny", "minz", "maxx", "maxy", "maxz"};

/* Where a row is: line first + row of text, or byte IO_RECORDS_BEGIN + row * RECORD_BYTES. */
typedef struct row_places {
  bool text;
  uint64_t first;
} row_places;

static io_place kind_of_place(const row_places *places) {
  return places->text ? IO_LINE : IO_BYTE;
}

static uint64_t place_of(const row_places *places, uint64_t row) {
  return places->text ? places->first + row : IO_RECORDS_BEGIN + row * RECORD_BYTES;
}

/* ---- what text and binary have in common ---- */

static bool check_order(const graze_box *box, const row_places *places, uint64_t row, io_fault *fault) {
  for (int k = 0; k < 3; k++) {
    if (box->min[k] <= box->max[k]) continue;
    char low[32], high[32];
    graze_format_double(box->min[k], low);
    graze_format_double(box->max[k], high);
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, kind_of_place(places), place_of(places, row),
                      "min%c %s is more than max%c %s", "xyz"[k], low, "xyz"[k], high);
  }
  return true;
}

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool is_ascending(const graze_box_list *boxes) {
  for (uint32_t i = 1; i < boxes->count; i++) {
    if (boxes->ids[i - 1] >= boxes->ids[i]) return false;
  }
  return true;
}

/* Names the first row of the file whose id an earlier row has. */
static bool check_ids_differ(const graze_box_list *boxes, const row_places *places, io_fault *fault) {
  if (is_ascending(boxes)) return true;
  uint64_t *keys = gz_new(fault->context, boxes->count, sizeof *keys);
  if (keys == NULL) return gz_io_fail_memory(fault);
  for (uint32_t i = 0; i < boxes->count; i++) keys[i] = (uint64_t)boxes->ids[i] << 32 | i;
  qsort(keys, boxes->count, sizeof *keys, compare_keys);
  uint64_t again = UINT64_MAX, before = 0;
  for (uint32_t i = 1; i < boxes->count; i++) {
    uint32_t row = (uint32_t)keys[i];
    if (keys[i - 1] >> 32 != keys[i] >> 32 || row >= again) continue;
    again = row;
    before = (uint32_t)keys[i - 1];
  }
  gz_free(keys);
  if (again == UINT64_MAX) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, kind_of_place(places), place_of(places, again),
                    "id %u was given to a box already, at %s %llu", boxes->ids[again], places->text ? "line" : "byte",
                    (unsigned long long)place_of(places, before));
}

static bool make_room(graze_box_list *boxes, uint64_t count, io_fault *fault) {
  boxes->ids = gz_new(fault->context, (size_t)count, sizeof *boxes->ids);
  boxes->boxes = gz_new(fault->context, (size_t)count, sizeof *boxes->boxes);
  boxes->count = (uint32_t)count;
  return (boxes->ids != NULL && boxes->boxes != NULL) || gz_io_fail_memory(fault);
}

/* ---- binary ---- */

static bool read_record(const unsigned char *p, uint64_t row, graze_box_list *boxes, const row_places *places,
                        io_fault *fault) {
  double numbers[NUMBERS];
  uint64_t id = io_read_word(p);
  if (id > UINT32_MAX) {
    return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_BYTE, place_of(places, row),
                      "id %llu is more than %u, the largest one", (unsigned long long)id, UINT32_MAX);
  }
  boxes->ids[row] = (uint32_t)id;
  for (int k = 0; k < NUMBERS; k++) {
    size_t offset = 8 + 8 * (size_t)k;
    uint64_t bits = io_read_word(p + offset);
    memcpy(&numbers[k], &bits, sizeof bits);
    if (isfinite(numbers[k])) continue;
    return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_BYTE, place_of(places, row) + offset, "%s of box %llu is %s",
                      number_names[k], (unsigned long long)row, isnan(numbers[k]) ? "NaN" : "infinite");
  }
  memcpy(&boxes->boxes[row], numbers, sizeof numbers);
  return check_order(&boxes->boxes[row], places, row, fault);
}

static bool read_binary(const io_input *input, graze_box_list *boxes, row_places *places, io_fault *fault) {
  uint64_t count = 0;
  if (!gz_io_read_count(input, RECORD_BYTES, "boxes", &count, fault) || !make_room(boxes, count, fault)) return false;
  const unsigned char *p = (const unsigned char *)input->text + IO_RECORDS_BEGIN;
  for (uint64_t row = 0; row < count; row++, p += RECORD_BYTES) {
    if (!read_record(p, row, boxes, places, fault)) return false;
  }
  return true;
}

/* ---- text ---- */

/* A whole number; what does not fit into 64 bits is a number all the same, and too large. */
static const char *read_id(const char *p, const char *end, uint64_t *id) {
  if (p == end || !io_is_digit(*p)) return NULL;
  *id = 0;
  for (; p < end && io_is_digit(*p); p++) {
    uint64_t digit = (uint64_t)(*p - '0');
    *id = *id > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * *id + digit;
  }
  return p;
}

static bool check_fields(const char *p, const char *end, uint64_t line, io_fault *fault) {
  unsigned fields = 1;
  for (const char *q = p; q < end; q++) fields += *q == ',';
  if (io_skip_blanks(p, end) == end) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "the line is empty");
  if (fields == FIELDS) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "%u fields where there should be %d: %s", fields, FIELDS,
                    titles);
}

/* Between two fields, or behind the last. */
static const char *leave_field(const char *p, const char *end) {
  p = io_skip_blanks(p, end);
  if (p == end) return p;
  return *p == ',' ? p + 1 : NULL;
}

static bool read_row(const char *p, const char *end, uint64_t row, graze_box_list *boxes, const row_places *places,
                     io_fault *fault) {
  uint64_t line = place_of(places, row), id;
  double numbers[NUMBERS];
  if (!check_fields(p, end, line, fault)) return false;
  p = io_skip_blanks(p, end);
  const char *q = read_id(p, end, &id);
  q = q != NULL ? leave_field(q, end) : NULL;
  if (q == NULL || id > UINT32_MAX) {
    gz_quoted text = gz_io_quote(p, memchr(p, ',', (size_t)(end - p)));
    if (q == NULL)
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "id \"%s\" is not a whole number", text.text);
    return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_LINE, line, "id %s is more than %u, the largest one", text.text,
                      UINT32_MAX);
  }
  for (int k = 0; k < NUMBERS; k++) {
    const char *comma = io_find_comma(q, end);
    if (!gz_io_read_number(gz_io_trim(q, comma), number_names[k], &numbers[k], line, fault)) return false;
    q = comma < end ? comma + 1 : end;
  }
  boxes->ids[row] = (uint32_t)id;
  memcpy(&boxes->boxes[row], numbers, sizeof numbers);
  return check_order(&boxes->boxes[row], places, row, fault);
}

static bool has_titles(const char *p, const char *end) {
  return (size_t)(end - p) >= sizeof titles - 1 && memcmp(p, titles, sizeof titles - 1) == 0 &&
         (p + sizeof titles - 1 == end || io_is_line_end(p[sizeof titles - 1]));
}

static bool read_text(const io_input *input, graze_box_list *boxes, row_places *places, io_fault *fault) {
  const char *p = input->text + gz_io_text_begin(input->text, input->size), *end = input->text + input->size;
  if (p == end) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "the file is empty");
  places->first = 1;
  if (has_titles(p, end)) {
    places->first = 2;
    p = io_skip_line_end(io_find_line_end(p, end), end);
  }
  uint64_t count = gz_io_count_lines(p, end);
  if (!gz_io_check_count(count, "boxes", IO_WHOLE_FILE, 0, fault) || !make_room(boxes, count, fault)) return false;
  for (uint64_t row = 0; row < count; row++) {
    const char *line_end = io_find_line_end(p, end);
    if (!read_row(p, line_end, row, boxes, places, fault)) return false;
    p = io_skip_line_end(line_end, end);
  }
  return true;
}

/* ---- the calls ---- */

/* By its name, or by the beginning of the magic bytes: of another version, or damaged. */
static bool means_binary(const io_input *input) {
  size_t length = strlen(input->name);
  return (length >= 4 && gz_io_token_is(input->name + length - 4, input->name + length, ".gzb")) ||
         (input->size >= 6 && memcmp(input->text, magic, 6) == 0);
}

static bool read_any(const io_input *input, graze_box_list *boxes, io_fault *fault) {
  bool binary = input->size >= IO_MAGIC_BYTES && memcmp(input->text, magic, IO_MAGIC_BYTES) == 0;
  if (!binary && means_binary(input)) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "binary boxes begin with \"%s\" and a zero byte", magic);
  }
  row_places places = {.text = !binary};
  bool good = binary ? read_binary(input, boxes, &places, fault) : read_text(input, boxes, &places, fault);
  return good && check_ids_differ(boxes, &places, fault);
}

static graze_status answer(graze_context *context, const io_input *input, graze_box_list *boxes) {
  io_fault fault = {.context = context};
  if (!read_any(input, boxes, &fault)) graze_box_list_free(boxes);
  return gz_io_report(&fault, input->name);
}

static bool check_arguments(const void *bytes, const char *name, graze_box_list *boxes, io_fault *fault) {
  if (boxes != NULL) *boxes = (graze_box_list){0};
  if (fault->context != NULL && bytes != NULL && name != NULL && boxes != NULL) return true;
  return gz_io_fail(fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
}

graze_status graze_parse_boxes(graze_context *context, const void *bytes, size_t size, const char *name,
                               graze_box_list *boxes) {
  io_fault fault = {.context = context};
  if (size == 0) bytes = "";
  if (!check_arguments(bytes, name, boxes, &fault)) return gz_io_report(&fault, name);
  return answer(context, &(io_input){.text = bytes, .size = size, .name = name}, boxes);
}

graze_status graze_read_boxes(graze_context *context, const char *path, graze_box_list *boxes) {
  io_fault fault = {.context = context};
  io_file file = {0};
  if (!check_arguments("", path, boxes, &fault) || !gz_io_file_read(path, true, &file, &fault)) {
    return gz_io_report(&fault, path);
  }
  graze_status status = answer(context, &(io_input){.text = file.bytes, .size = file.size, .name = path}, boxes);
  gz_free(file.bytes);
  return status;
}

void graze_box_list_free(graze_box_list *boxes) {
  if (boxes == NULL) return;
  gz_free(boxes->ids);
  gz_free(boxes->boxes);
  *boxes = (graze_box_list){0};
}
