/* read_motion.c: how objects move, as CSV text.
 *
 * The number of a step stands in every row, so that a file can leave out what stays. In exchange nothing else is
 * loose: a row that repeats an object, goes back or names nobody is a mistake of the program that wrote it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "file.h"
#include "rows.h"
#include "text.h"

enum { MATRIX_NUMBERS = 12, QUATERNION_NUMBERS = 7, CENTER_NUMBERS = 3, FIELDS_BEFORE = 2 };
enum { MOST_NUMBERS = MATRIX_NUMBERS + CENTER_NUMBERS };

static const char *const matrix_titles[MOST_NUMBERS] = {"m00", "m01", "m02", "m03", "m10", "m11", "m12", "m13",
                                                        "m20", "m21", "m22", "m23", "cx",  "cy",  "cz"};
static const char *const quaternion_titles[QUATERNION_NUMBERS + CENTER_NUMBERS] = {"x",  "y",  "z",  "qw", "qx",
                                                                                   "qy", "qz", "cx", "cy", "cz"};

typedef struct named_object {
  const char *name;
  uint32_t object;
} named_object;

typedef struct motion_reader {
  named_object *names; /* sorted */
  uint32_t name_count;
  uint32_t *last_steps; /* of each object; 0: not moved yet */
  const char *const *titles;
  int pose_count, number_count; /* of a pose, and with a center, if the file has them */
  char *text;                   /* of a quoted field */
  uint64_t line;
  gz_array moves;
  io_fault *fault;
} motion_reader;

static bool fail_line(motion_reader *r, graze_status status, const char *words, const char *first, const char *last) {
  return gz_io_fail(r->fault, status, IO_LINE, r->line, words, gz_io_quote(first, last).text);
}

/* ---- fields ------------------------------------------------------------------------------------------------ */

/* The end of the field that begins at `p`: a comma or the end. In quotes a comma is text. NULL: the quotes do not
 * close, or something follows them. */
static const char *find_field_end(const char *p, const char *end) {
  p = io_skip_blanks(p, end);
  if (p == end || *p != '"') {
    while (p < end && *p != ',') p++;
    return p;
  }
  for (p++; p < end; p++) {
    if (*p != '"') continue;
    if (p + 1 < end && p[1] == '"') {
      p++;
      continue;
    }
    p = io_skip_blanks(p + 1, end);
    return p == end || *p == ',' ? p : NULL;
  }
  return NULL;
}

/* Cuts the line into fields; their number must be that of the titles. */
static bool cut_line(motion_reader *r, const char *p, const char *end, io_field *fields) {
  int wanted = FIELDS_BEFORE + r->number_count;
  uint64_t count = 0;
  if (io_skip_blanks(p, end) == end)
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line, "the line is empty");
  for (;; p++) {
    const char *last = find_field_end(p, end);
    if (last == NULL) return fail_line(r, GRAZE_ERROR_FORMAT, "the quotes of %s do not enclose a field", p, end);
    if (count < (uint64_t)wanted) fields[count] = gz_io_trim(p, last);
    count++;
    p = last;
    if (p == end) break;
  }
  if (count == (uint64_t)wanted) return true;
  return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line, "%llu fields where there should be %d",
                    (unsigned long long)count, wanted);
}

/* ---- titles ------------------------------------------------------------------------------------------------ */

static bool titles_are(const char *p, const char *end, const char *const *titles, int count) {
  for (int i = 0; i < FIELDS_BEFORE + count; i++) {
    const char *wanted = i == 0 ? "step" : i == 1 ? "object" : titles[i - FIELDS_BEFORE];
    const char *last = io_find_comma(p, end);
    io_field text = gz_io_trim(p, last);
    size_t length = strlen(wanted);
    if ((size_t)(text.last - text.first) != length || memcmp(text.first, wanted, length) != 0) return false;
    bool is_last = i + 1 == FIELDS_BEFORE + count;
    if (is_last != (last == end)) return false;
    p = last + 1;
  }
  return true;
}

static bool read_titles(motion_reader *r, const char *p, const char *end) {
  for (int way = 0; way < 4; way++) {
    r->pose_count = way < 2 ? MATRIX_NUMBERS : QUATERNION_NUMBERS;
    r->number_count = r->pose_count + (way % 2 == 0 ? 0 : CENTER_NUMBERS);
    r->titles = way < 2 ? matrix_titles : quaternion_titles;
    if (titles_are(p, end, r->titles, r->number_count)) return true;
  }
  return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line,
                    "the first line must be step,object,m00,m01,...,m23 or step,object,x,y,z,qw,qx,qy,qz, and then "
                    "perhaps cx,cy,cz");
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static bool read_step(motion_reader *r, io_field text, uint32_t *step) {
  uint64_t value;
  const graze_motion_move *moves = r->moves.data;
  const char *q = io_parse_count(text.first, text.last, &value);
  if (q == NULL || q != text.last)
    return fail_line(r, GRAZE_ERROR_FORMAT, "step \"%s\" is not a whole number", text.first, text.last);
  if (value == 0)
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line,
                      "step 0 is the scene as it is; steps begin with 1");
  if (value > GRAZE_MOTION_MOST_STEPS) {
    return gz_io_fail(r->fault, GRAZE_ERROR_LIMIT, IO_LINE, r->line,
                      "step %s is more than %d, the last one there can be", gz_io_quote(text.first, text.last).text,
                      GRAZE_MOTION_MOST_STEPS);
  }
  uint32_t before = r->moves.count > 0 ? moves[r->moves.count - 1].step : 0;
  *step = (uint32_t)value;
  if (*step >= before) return true;
  return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line, "step %u comes after step %u", *step, before);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const named_object *)a)->name, ((const named_object *)b)->name);
}

/* The name as text with a final 0; a zero byte within it ends it, and then no object has it. */
static void copy_name(char *out, io_field text) {
  const char *p = text.first, *end = text.last;
  bool quoted = p < end && *p == '"';
  if (quoted) {
    p++;
    end--;
  }
  while (p < end) {
    if (quoted && *p == '"') p++;
    if (p < end) *out++ = *p++;
  }
  *out = 0;
}

static bool read_object(motion_reader *r, io_field text, uint32_t step, uint32_t *object) {
  copy_name(r->text, text);
  const named_object wanted = {.name = r->text};
  const named_object *found =
      r->name_count > 0 ? bsearch(&wanted, r->names, r->name_count, sizeof *r->names, compare_names) : NULL;
  if (found == NULL) return fail_line(r, GRAZE_ERROR_FORMAT, "no object has the name \"%s\"", text.first, text.last);
  *object = found->object;
  if (r->last_steps[*object] == step) {
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line, "\"%s\" has a pose in step %u already",
                      gz_io_quote(text.first, text.last).text, step);
  }
  r->last_steps[*object] = step;
  return true;
}

/* Numbers: the matrix, or x, y, z, qw, qx, qy, qz. */
static bool make_pose(motion_reader *r, const double numbers[MOST_NUMBERS], graze_pose *pose) {
  if (r->pose_count == MATRIX_NUMBERS) {
    memcpy(pose->m, numbers, sizeof pose->m);
    return true;
  }
  double most = 0;
  for (int k = 3; k < QUATERNION_NUMBERS; k++) most = fmax(most, fabs(numbers[k]));
  if (most == 0) {
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_LINE, r->line, "the quaternion is zero: it is no rotation");
  }
  *pose = graze_pose_from_quaternion(numbers + 3, numbers);
  return true;
}

static bool read_row(motion_reader *r, const char *p, const char *end) {
  io_field fields[FIELDS_BEFORE + MOST_NUMBERS];
  double numbers[MOST_NUMBERS] = {0};
  graze_motion_move move = {0};
  if (!cut_line(r, p, end, fields) || !read_step(r, fields[0], &move.step)) return false;
  if (!read_object(r, fields[1], move.step, &move.object)) return false;
  for (int k = 0; k < r->number_count; k++) {
    if (!gz_io_read_number(fields[FIELDS_BEFORE + k], r->titles[k], &numbers[k], r->line, r->fault)) return false;
  }
  if (!make_pose(r, numbers, &move.pose)) return false;
  if (r->number_count > r->pose_count) memcpy(move.center, numbers + r->pose_count, sizeof move.center);
  if (!array_reserve(r->fault->context, &r->moves, 1, sizeof move)) return gz_io_fail_memory(r->fault);
  ((graze_motion_move *)r->moves.data)[r->moves.count++] = move;
  return true;
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

static bool sort_names(motion_reader *r, const char *const *names) {
  r->names = gz_new(r->fault->context, r->name_count, sizeof *r->names);
  r->last_steps = gz_new(r->fault->context, r->name_count, sizeof *r->last_steps);
  if (r->names == NULL || r->last_steps == NULL) return gz_io_fail_memory(r->fault);
  for (uint32_t i = 0; i < r->name_count; i++) {
    r->names[i] = (named_object){names[i], i};
    r->last_steps[i] = 0;
  }
  qsort(r->names, r->name_count, sizeof *r->names, compare_names);
  return true;
}

static bool read_lines(motion_reader *r, const io_input *input) {
  const char *p = input->text + gz_io_text_begin(input->text, input->size), *end = input->text + input->size;
  if (p == end) return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "the file is empty");
  for (r->line = 1; p < end; r->line++) {
    const char *line_end = io_find_line_end(p, end);
    if (r->line == 1 ? !read_titles(r, p, line_end) : !read_row(r, p, line_end)) return false;
    p = io_skip_line_end(line_end, end);
  }
  return true;
}

static graze_status answer(graze_context *context, const io_input *input, const char *const *names, uint32_t name_count,
                           graze_motion *motion) {
  io_fault fault = {.context = context};
  motion_reader r = {.name_count = name_count, .fault = &fault};
  r.text = gz_new(context, input->size + 1, 1);
  bool good = r.text != NULL ? sort_names(&r, names) && read_lines(&r, input) : gz_io_fail_memory(&fault);
  if (good) {
    const graze_motion_move *moves = r.moves.data;
    motion->moves = r.moves.data;
    motion->count = r.moves.count;
    motion->has_centers = r.number_count > r.pose_count;
    motion->last_step = r.moves.count > 0 ? moves[r.moves.count - 1].step : 0;
  } else {
    gz_free(r.moves.data);
  }
  gz_free(r.names);
  gz_free(r.last_steps);
  gz_free(r.text);
  return gz_io_report(&fault, input->name);
}

static bool check_arguments(const void *bytes, const char *name, const char *const *names, uint32_t name_count,
                            graze_motion *motion, io_fault *fault) {
  bool good =
      fault->context != NULL && bytes != NULL && name != NULL && motion != NULL && (names != NULL || name_count == 0);
  if (motion != NULL) *motion = (graze_motion){0};
  for (uint32_t i = 0; good && i < name_count; i++) good = names[i] != NULL;
  return good ||
         gz_io_fail(fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
}

graze_status graze_parse_motion(graze_context *context, const void *bytes, size_t size, const char *name,
                                const char *const *names, uint32_t name_count, graze_motion *motion) {
  io_fault fault = {.context = context};
  if (size == 0) bytes = "";
  if (!check_arguments(bytes, name, names, name_count, motion, &fault)) {
    return gz_io_report(&fault, name);
  }
  return answer(context, &(io_input){.text = bytes, .size = size, .name = name}, names, name_count, motion);
}

graze_status graze_read_motion(graze_context *context, const char *path, const char *const *names, uint32_t name_count,
                               graze_motion *motion) {
  io_fault fault = {.context = context};
  io_file file = {0};
  if (!check_arguments("", path, names, name_count, motion, &fault) || !gz_io_file_read(path, true, &file, &fault)) {
    return gz_io_report(&fault, path);
  }
  io_input input = {.text = file.bytes, .size = file.size, .name = path};
  graze_status status = answer(context, &input, names, name_count, motion);
  gz_free(file.bytes);
  return status;
}

void graze_motion_free(graze_motion *motion) {
  if (motion == NULL) return;
  gz_free(motion->moves);
  *motion = (graze_motion){0};
}
