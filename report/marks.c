/* marks.c: marks and comments from a spreadsheet. Comma-separated as RFC 4180 has it, or with semicolons or tabs, as
 * spreadsheets of some countries write it. Either all of the file counts or nothing of it.
 */
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "out.h"

typedef struct marks_reader {
  const char *name;
  const char *at, *end;
  char separator;
  uint64_t line; /* of `at` */
  const graze_context *context;
  graze_status status;
  char **fields; /* of the row that was read last; strings in `text` */
  uint32_t field_count, field_capacity;
  char *text; /* as long as the file: a row is never longer */
} marks_reader;

typedef struct marks_change {
  uint32_t clash;
  char *mark, *comment; /* NULL: left as it is */
} marks_change;

static bool fail_row(marks_reader *r, uint64_t line, const char *reason, const char *word) {
  char place[24];
  snprintf(place, sizeof place, "%llu:", (unsigned long long)line);
  r->status = gz_fail_named(r->context, GRAZE_ERROR_FORMAT, r->name, place, reason, gz_report_quote(word).text);
  return false;
}

static bool fail_memory(marks_reader *r) {
  r->status = gz_report_fail_memory(r->context, r->name);
  return false;
}

/* ---- rows ---- */

/* Reads one character of a field to *to; false at the field's end. `quoted`: within quotes. */
static bool read_character(marks_reader *r, bool *quoted, char **to) {
  if (r->at == r->end) return false;
  char c = *r->at;
  if (*quoted && c == '"' && r->at + 1 < r->end && r->at[1] == '"') {
    r->at++;
  } else if (c == '"') {
    *quoted = !*quoted;
    r->at++;
    return true;
  } else if (!*quoted && (c == r->separator || c == '\n' || c == '\r')) {
    return false;
  }
  if (c == '\n') r->line++;
  *(*to)++ = c;
  r->at++;
  return true;
}

static bool add_field(marks_reader *r, char *field) {
  if (r->field_count == r->field_capacity) {
    uint32_t capacity = 2 * r->field_capacity + 32;
    char **fields = gz_resize(r->context, r->fields, capacity, sizeof *fields);
    if (fields == NULL) return fail_memory(r);
    r->fields = fields;
    r->field_capacity = capacity;
  }
  r->fields[r->field_count++] = field;
  return true;
}

/* Reads a row to its line end. */
static bool read_row(marks_reader *r) {
  char *to = r->text;
  uint64_t first_line = r->line;
  r->field_count = 0;
  for (;;) {
    bool quoted = false;
    char *field = to;
    if (!add_field(r, field)) return false;
    while (read_character(r, &quoted, &to)) {
    }
    if (quoted) return fail_row(r, first_line, "a quote is not closed%s", "");
    *to++ = 0;
    if (r->at == r->end || *r->at != r->separator) break;
    r->at++;
  }
  if (r->at < r->end && *r->at == '\r') r->at++;
  if (r->at < r->end && *r->at == '\n') r->at++;
  r->line++;
  return true;
}

/* ---- the header ---- */

typedef struct marks_columns {
  uint32_t id, mark, comment, state; /* UINT32_MAX: there is none */
} marks_columns;

/* The first of the three that stands in the header line. */
static char find_separator(const char *text, const char *end) {
  for (; text < end && *text != '\n'; text++) {
    if (*text == ',' || *text == ';' || *text == '\t') return *text;
  }
  return ',';
}

static bool read_header(marks_reader *r, marks_columns *columns) {
  static const char *const names[] = {"id", "mark", "comment", "state"};
  uint32_t *const numbers[] = {&columns->id, &columns->mark, &columns->comment, &columns->state};
  *columns = (marks_columns){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  if (!read_row(r)) return false;
  for (uint32_t i = 0; i < r->field_count; i++) {
    for (int k = 0; k < 4; k++) {
      if (strcmp(r->fields[i], names[k]) != 0) continue;
      if (*numbers[k] != UINT32_MAX) return fail_row(r, 1, "two columns have the name \"%s\"", names[k]);
      *numbers[k] = i;
    }
  }
  if (columns->id == UINT32_MAX) return fail_row(r, 1, "no column has the name \"id\"%s", "");
  if (columns->mark != UINT32_MAX || columns->comment != UINT32_MAX) return true;
  return fail_row(r, 1, "no column has the name \"mark\" or \"comment\"%s", "");
}

/* ---- changes ---- */

static const char *field_at(const marks_reader *r, uint32_t column) {
  return column < r->field_count ? r->fields[column] : "";
}

/* An empty line, or the one by which graze_report_write_csv says that the check was incomplete. */
static bool is_no_clash(const marks_reader *r, const marks_columns *columns) {
  bool empty = true;
  for (uint32_t i = 0; i < r->field_count; i++) empty &= *r->fields[i] == 0;
  return empty || (*field_at(r, columns->id) == 0 && strcmp(field_at(r, columns->state), "incomplete") == 0);
}

static bool take_row(marks_reader *r, const marks_columns *columns, const report_names *ids, bool *seen, uint64_t line,
                     marks_change *change) {
  const char *id = field_at(r, columns->id), *mark = field_at(r, columns->mark);
  *change = (marks_change){.clash = gz_report_names_find(ids, id)};
  if (change->clash == UINT32_MAX) return fail_row(r, line, "the report has no clash with the id \"%s\"", id);
  if (seen[change->clash]) return fail_row(r, line, "the id \"%s\" occurs twice", id);
  if (!gz_report_is_mark(mark)) {
    return fail_row(r, line, "the mark \"%s\" is none; it can be empty, \"reviewed\" or \"approved\"", mark);
  }
  seen[change->clash] = true;
  if (columns->mark < r->field_count) change->mark = gz_new_text(r->context, mark);
  if (columns->comment < r->field_count) change->comment = gz_new_text(r->context, field_at(r, columns->comment));
  if ((columns->mark < r->field_count && change->mark == NULL) ||
      (columns->comment < r->field_count && change->comment == NULL)) {
    return fail_memory(r);
  }
  return true;
}

static bool read_changes(marks_reader *r, const report_names *ids, bool *seen, marks_change *changes, uint32_t *count) {
  marks_columns columns;
  if (!read_header(r, &columns)) return false;
  while (r->at < r->end) {
    uint64_t line = r->line;
    if (!read_row(r)) return false;
    if (is_no_clash(r, &columns)) continue;
    marks_change change;
    bool good = take_row(r, &columns, ids, seen, line, &change);
    if (change.clash != UINT32_MAX) changes[(*count)++] = change; /* also a bad one: its strings are freed with all */
    if (!good) return false;
  }
  return true;
}

/* Nothing can fail from here on: the room for the strings is there. */
static void apply(graze_report_previous *previous, const marks_change *changes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    graze_report_previous_clash *clash = &previous->clashes[changes[i].clash];
    if (changes[i].mark != NULL) previous->texts[previous->text_count++] = changes[i].mark;
    if (changes[i].comment != NULL) previous->texts[previous->text_count++] = changes[i].comment;
    if (changes[i].mark != NULL) clash->mark = changes[i].mark;
    if (changes[i].comment != NULL) clash->comment = changes[i].comment;
  }
}

static bool reserve_texts(const graze_context *context, graze_report_previous *previous, uint32_t count) {
  char **texts =
      gz_resize(context, previous->texts, (size_t)previous->text_count + 2 * (size_t)count + 1, sizeof *texts);
  if (texts != NULL) previous->texts = texts;
  return texts != NULL;
}

/* ---- the whole ---- */

/* A file in another encoding would put wrong letters into comments. */
static bool check_text(marks_reader *r, const char *bytes, size_t size) {
  memcpy(r->text, bytes, size);
  r->text[size] = 0;
  uint64_t line = 1;
  for (const char *c = r->text; c < r->text + size;) {
    int length = *c == 0 ? -1 : gz_utf8_length(c);
    if (length < 0) return fail_row(r, line, "not UTF-8 text%s", "");
    line += *c == '\n';
    c += length;
  }
  return true;
}

static bool read_all(marks_reader *r, graze_report_previous *previous) {
  uint32_t count = 0, clashes = previous->clash_count;
  report_names ids = {0};
  const char **names = gz_new(r->context, (size_t)clashes + 1, sizeof *names);
  bool *seen = gz_new_zeroed(r->context, (size_t)clashes + 1, sizeof *seen);
  marks_change *changes = gz_new_zeroed(r->context, (size_t)clashes + 1, sizeof *changes);
  for (uint32_t i = 0; names != NULL && i < clashes; i++) names[i] = previous->clashes[i].id;
  bool good =
      names != NULL && seen != NULL && changes != NULL && gz_report_names_open(r->context, &ids, names, clashes);
  good = good ? read_changes(r, &ids, seen, changes, &count) : fail_memory(r);
  if (good && !reserve_texts(r->context, previous, count)) good = fail_memory(r);
  if (good) apply(previous, changes, count);
  for (uint32_t i = 0; !good && i < count; i++) {
    gz_free(changes[i].mark);
    gz_free(changes[i].comment);
  }
  gz_report_names_close(&ids);
  gz_free(names);
  gz_free(seen);
  gz_free(changes);
  return good;
}

graze_status graze_report_parse_marks(graze_context *context, const void *bytes, size_t size, const char *name,
                                      graze_report_previous *previous) {
  const char *text = bytes;
  if (context == NULL || (bytes == NULL && size > 0) || name == NULL || previous == NULL) {
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name != NULL ? name : "marks", "",
                         "an argument of the reading call is invalid");
  }
  if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark, as spreadsheets like it */
    text += 3;
    size -= 3;
  }
  marks_reader r = {.name = name, .at = text, .end = text + size, .line = 1, .context = context};
  r.text = gz_new(context, size + 2, 1);
  r.separator = size > 0 ? find_separator(text, text + size) : ',';
  bool good = r.text != NULL ? check_text(&r, size > 0 ? text : "", size) : fail_memory(&r);
  good = good && read_all(&r, previous);
  gz_free(r.text);
  gz_free(r.fields);
  return good ? GRAZE_OK : r.status;
}

graze_status graze_report_read_marks(graze_context *context, const char *path, graze_report_previous *previous) {
  gz_whole file;
  if (context == NULL || path == NULL || previous == NULL)
    return graze_report_parse_marks(context, NULL, 0, path, previous);
  graze_status status = gz_report_read_file(context, path, &file);
  if (status != GRAZE_OK) return status;
  status = graze_report_parse_marks(context, file.bytes, file.size, path, previous);
  gz_free(file.bytes);
  return status;
}
