/* scene_plain.c: the commonest objects of scene files without a tree of JSON.
 *
 * jansson makes a table and seventeen values for such an object, 4 us in all, which is most of the time that a scene of
 * many objects takes to read. Here keys and printable ASCII are taken as they stand, numbers by graze_parse_double,
 * which rounds as jansson does, to nearest. Whatever is not quite as expected is left to jansson, so that nothing is
 * refused, or understood otherwise, here.
 */
#include "scene_plain.h"

#include <math.h>
#include <string.h>

#include "graze/io.h"

typedef struct cursor {
  const char *p, *end;
} cursor;

static char peek(cursor *c) {
  while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t')) c->p++;
  return c->p < c->end ? *c->p : 0;
}

static bool take(cursor *c, char wanted) {
  if (peek(c) != wanted) return false;
  c->p++;
  return true;
}

static bool take_text(cursor *c, plain_text *text) {
  if (text->text != NULL || !take(c, '"')) return false; /* given before */
  const char *begin = c->p;
  while (c->p < c->end && *c->p >= ' ' && *c->p <= '~' && *c->p != '"' && *c->p != '\\') c->p++;
  *text = (plain_text){begin, (size_t)(c->p - begin)};
  return c->p < c->end && *c->p++ == '"';
}

static bool is_digit(const cursor *c) {
  return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

static bool skip_digits(cursor *c) {
  const char *begin = c->p;
  while (is_digit(c)) c->p++;
  return c->p > begin;
}

/* The grammar of JSON, which is stricter than that of graze_parse_double. */
static bool skip_number(cursor *c) {
  c->p += c->p < c->end && *c->p == '-';
  if (c->p < c->end && *c->p == '0')
    c->p++;
  else if (!skip_digits(c))
    return false;
  if (c->p < c->end && *c->p == '.') {
    c->p++;
    if (!skip_digits(c)) return false;
  }
  if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
    c->p++;
    c->p += c->p < c->end && (*c->p == '+' || *c->p == '-');
    if (!skip_digits(c)) return false;
  }
  return !is_digit(c);
}

static bool take_number(cursor *c, double *number) {
  peek(c);
  const char *begin = c->p;
  return skip_number(c) && graze_parse_double(begin, c->p, number) == c->p && isfinite(*number);
}

static bool take_pose(cursor *c, plain_object *o) {
  if (o->posed || !take(c, '[')) return false;
  o->posed = true;
  for (int k = 0; k < 12; k++) {
    if ((k > 0 && !take(c, ',')) || !take_number(c, &o->pose[k])) return false;
  }
  return take(c, ']');
}

static bool is_key(const plain_text *key, const char *name) {
  return key->length == strlen(name) && memcmp(key->text, name, key->length) == 0;
}

static bool take_member(cursor *c, plain_object *o) {
  plain_text key = {NULL, 0};
  if (!take_text(c, &key) || !take(c, ':')) return false;
  if (is_key(&key, "pose")) return take_pose(c, o);
  if (is_key(&key, "name")) return take_text(c, &o->name);
  if (is_key(&key, "mesh")) return take_text(c, &o->mesh);
  return is_key(&key, "layer") && take_text(c, &o->layer);
}

bool gz_scene_read_plain(const char *text, size_t size, plain_object *object) {
  cursor c = {text, text + size};
  *object = (plain_object){.posed = false};
  if (!take(&c, '{')) return false;
  do {
    if (!take_member(&c, object)) return false;
  } while (take(&c, ','));
  return take(&c, '}') && peek(&c) == 0 && c.p == c.end && object->name.length > 0 && object->mesh.length > 0;
}
