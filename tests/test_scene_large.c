/* Scene files of many objects, which are read object by object and by all threads: they say what they say when they are
 * read as a whole, and so does every fault. A key that is written with an escape has a file read as a whole. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/io.h"
#include "support.h"

enum { OBJECTS = 300, ROOM = 1 << 17 };

typedef struct scene_text {
  char text[ROOM];
  size_t length, head; /* what is before the list */
} scene_text;

__attribute__((format(printf, 2, 3))) static void add(scene_text *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  s->length += (size_t)vsnprintf(s->text + s->length, ROOM - s->length, format, arguments);
  va_end(arguments);
  assert_true(s->length < ROOM);
}

static void add_number(uint64_t *state, scene_text *s) {
  static const char *const odd[] = {"-0",
                                    "0.0",
                                    "1E5",
                                    "-1.5e-7",
                                    "123456789012345678901234567890",
                                    "1e-400",
                                    "2e+3",
                                    "-0.0",
                                    "0e0",
                                    "0.1",
                                    "9007199254740993",
                                    "5e-324"};
  if (random_below(state, 4) == 0)
    add(s, "%s", odd[random_below(state, sizeof odd / sizeof *odd)]);
  else
    add(s, random_below(state, 2) ? "%.17g" : "%.3f", 1e3 * random_signed(state));
}

static void add_pose(uint64_t *state, scene_text *s) {
  add(s, ",%s\"pose\" :[", random_below(state, 2) ? "" : " \n\t");
  for (int k = 0; k < 12; k++) {
    if (k > 0) add(s, "%s", random_below(state, 3) ? "," : " ,\r\n");
    add_number(state, s);
  }
  add(s, "]");
}

/* What an object is called, and what it is: brackets, quotes and more in texts, all that scene files know of objects.
 */
static void add_object(uint64_t *state, scene_text *s, int number) {
  static const char *const marks[] = {"", " {", "]}", ",[", "\\\"", "\\\\", "\\u00e9", "\xc3\xa9", ":\\\\\\\"{", "~"};
  static const char *const kinds[] = {"\"mesh\":\"a.obj\"",
                                      "\"mesh\" : \"/b\\/c.obj\"",
                                      "\"mesh\":\"sub/d.obj\"",
                                      "\"shape\":{\"sphere\":2.5},\"draw\":\"e.obj\"",
                                      "\"shape\":{\"box\":[1,2,3]}",
                                      "\"mesh\":\"a.obj\",\"body\":{\"type\":\"dynamic\",\"mass\":3}",
                                      "\"shape\":{\"compound\":[{\"sphere\":1},{\"box\":[1,1,1],\"density\":2}]}"};
  const uint32_t kind = random_below(state, 2) ? 0 : random_below(state, sizeof kinds / sizeof *kinds);
  add(s, "{\"name\":\"%d%s\",%s", number, marks[random_below(state, sizeof marks / sizeof *marks)], kinds[kind]);
  if (random_below(state, 4) != 0) add_pose(state, s);
  if (random_below(state, 2) != 0) add(s, ", \"layer\":\"%s\"", random_below(state, 3) ? "steel" : "");
  add(s, "%s}", random_below(state, 3) ? "" : "\n ");
}

static void make_text(uint64_t *state, scene_text *s) {
  s->length = 0;
  add(s, "{\"graze\":1, \"units\":\"objects\",\n\"objects\": [");
  s->head = s->length;
  for (int i = 0; i < OBJECTS; i++) {
    if (i > 0) add(s, "%s", random_below(state, 2) ? "," : "\n , ");
    add_object(state, s, i);
  }
  add(s, " ],\"ignore_layers\":[[\"steel\",\"\\u0061[\"]],\n\"sets\":{\"objects\":[\"1*\"]}}\n");
}

/* The same text, for the reader of whole files. */
static void make_whole(const scene_text *s, scene_text *whole) {
  static const char key[] = "\"obj\\u0065cts\": [";
  const size_t old = strlen("\"objects\": ["), before = s->head - old;
  memcpy(whole->text, s->text, before);
  memcpy(whole->text + before, key, sizeof key - 1);
  memcpy(whole->text + before + sizeof key - 1, s->text + s->head, s->length - s->head);
  whole->length = s->length + sizeof key - 1 - old;
}

static void assert_same_body(const graze_scene_file_body *a, const graze_scene_file_body *b) {
  assert_int_equal(a->type, b->type);
  assert_memory_equal(&a->mass, &b->mass, sizeof a->mass);
  assert_memory_equal(&a->density, &b->density, sizeof a->density);
  assert_memory_equal(a->velocity, b->velocity, sizeof a->velocity);
  assert_memory_equal(a->inertia, b->inertia, sizeof a->inertia);
  assert_int_equal(a->material, b->material);
}

static void assert_same_object(const graze_scene_file_object *a, const graze_scene_file_object *b) {
  assert_string_equal(a->name, b->name);
  assert_string_equal(a->mesh, b->mesh);
  assert_string_equal(a->layer, b->layer);
  assert_string_equal(a->draw, b->draw);
  assert_int_equal(a->shape, b->shape);
  assert_int_equal(a->part_count, b->part_count);
  assert_memory_equal(&a->radius, &b->radius, sizeof a->radius);
  assert_memory_equal(a->edges, b->edges, sizeof a->edges);
  assert_memory_equal(&a->pose, &b->pose, sizeof a->pose);
  assert_same_body(&a->body, &b->body);
}

/* Both readers say the same of both texts; returns what. */
static graze_status assert_same(graze_context *context, const scene_text *s, const scene_text *whole) {
  graze_scene_file got, want;
  graze_error error = {0};
  const graze_status status = graze_parse_scene(context, whole->text, whole->length, "in/s.json", &want);
  if (status != GRAZE_OK) error = *graze_last_error(context);
  assert_int_equal(graze_parse_scene(context, s->text, s->length, "in/s.json", &got), status);
  if (status != GRAZE_OK) assert_string_equal(graze_last_error(context)->message, error.message);
  assert_int_equal(got.object_count, want.object_count);
  for (uint32_t i = 0; i < want.object_count; i++) assert_same_object(&got.objects[i], &want.objects[i]);
  assert_int_equal(got.ignore_layer_count, want.ignore_layer_count);
  assert_int_equal(got.set_count, want.set_count);
  if (status == GRAZE_OK) assert_string_equal(got.units, want.units);
  graze_scene_file_free(&got);
  graze_scene_file_free(&want);
  return status;
}

static scene_text large, whole;

static void same_as_a_whole(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int i = 0; i < test_rounds(6, 200); i++) {
    make_text(&state, &large);
    make_whole(&large, &whole);
    assert_int_equal(assert_same(shared_context(1), &large, &whole), GRAZE_OK);
    assert_int_equal(assert_same(shared_context(4), &large, &whole), GRAZE_OK);
  }
}

/* One byte becomes another one, goes, or is there twice; or the text ends. */
static void damage(uint64_t *state, scene_text *s) {
  static const char marks[] = "{}[],:\"\\0-e. \n\x80\x01un";
  char *at = s->text + s->head + random_below(state, (uint32_t)(s->length - s->head));
  const size_t behind = (size_t)(s->text + s->length - at);
  switch (random_below(state, 4)) {
    case 0:
      memmove(at, at + 1, behind - 1);
      s->length--;
      break;
    case 1:
      memmove(at + 1, at, behind);
      s->length++;
      break;
    case 2:
      *at = marks[random_below(state, sizeof marks - 1)];
      break;
    default:
      if (random_below(state, 8) == 0) s->length -= behind;
      memmove(at, at + behind / 3, behind - behind / 3); /* a piece is missing */
      if (s->length > behind / 3) s->length -= behind / 3;
  }
}

static void same_faults(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  int good = 0, bad = 0;
  for (int i = 0; i < test_rounds(150, 20000); i++) {
    if (i % 10 == 0) make_text(&state, &large);
    scene_text *s = malloc(sizeof *s);
    *s = large;
    damage(&state, s);
    if (s->length > s->head) {
      make_whole(s, &whole);
      const bool right = assert_same(shared_context(1 + 3 * (i % 2)), s, &whole) == GRAZE_OK;
      good += right;
      bad += !right;
    }
    free(s);
  }
  assert_true(bad > 0 && good > 0);
}

/* What JSON or scene files do not allow, or only just, as the object in the middle. */
static void odd_objects(void **unused) {
  (void)unused;
  static const char *const numbers[] = {"01",    "-01",    "+1",     "1.",   ".5",   "1e",    "1e+", "0x1",
                                        "1e999", "-1e999", "-",      "NaN",  "--1",  "1 2",   "[1]", "1,",
                                        "",      "0",      "-0",     "1E+2", "00",   "1e5.5", "1f",  "inf",
                                        "true",  "\"1\"",  "1e-999", "0.",   "2e01", "1_0"};
  static const char *const objects[] = {"{\"name\":\"x\"}",
                                        "{\"mesh\":\"x\"}",
                                        "{\"name\":\"\",\"mesh\":\"x\"}",
                                        "{\"name\":\"x\",\"mesh\":\"\"}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",\"name\":\"y\"}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",\"mehs\":\"y\"}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",\"layer\":null}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",}",
                                        "{\"name\":\"x\" \"mesh\":\"x\"}",
                                        "{\"name\":\"x\",\"mesh\":\"x\"} {",
                                        "{}",
                                        "[]",
                                        "7",
                                        "{\"name\":\"a\tb\",\"mesh\":\"x\"}",
                                        "{\"name\":\"a\xff\",\"mesh\":\"x\"}",
                                        "{\"name\":\"a\x7f\",\"mesh\":\"x\"}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",\"shape\":{\"sphere\":1}}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",\"pose\":[1,2]}",
                                        "{\"name\":\"x\",\"mesh\":\"x\",\"pose\":[1,0,0,0,0,1,0,0,0,0,1,0,0]}",
                                        "{\"name\":\"17\",\"mesh\":\"x\"}",
                                        "{\"na\\u006de\":\"x\",\"mesh\":\"x\"}",
                                        "{\"name\":\"x\\u0000\",\"mesh\":\"x\"}"};
  const int number_count = sizeof numbers / sizeof *numbers, count = number_count + sizeof objects / sizeof *objects;
  for (int k = 0; k < count; k++) {
    large.length = 0;
    add(&large, "{\"graze\":1, \"units\":\"objects\",\n\"objects\": [");
    large.head = large.length;
    for (int i = 0; i < OBJECTS; i++) {
      if (i > 0) add(&large, ",");
      if (i != OBJECTS / 2)
        add(&large, "{\"name\":\"%d\",\"mesh\":\"m.obj\"}", i);
      else if (k < number_count)
        add(&large, "{\"name\":\"x\",\"mesh\":\"m\",\"pose\":[1,0,0,0,0,1,0,0,0,0,1,%s]}", numbers[k]);
      else
        add(&large, "%s", objects[k - number_count]);
    }
    add(&large, "]}");
    make_whole(&large, &whole);
    assert_same(shared_context(1), &large, &whole);
  }
}

static graze_status read_large(graze_context *context) {
  graze_scene_file scene;
  const graze_status status = graze_parse_scene(context, large.text, large.length, "in/s.json", &scene);
  assert_int_equal(scene.object_count, status == GRAZE_OK ? OBJECTS : 0);
  graze_scene_file_free(&scene);
  return status;
}

static void refused_memory(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  make_text(&state, &large);
  test_refuse_each(read_large, 4000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_a_whole), cmocka_unit_test(same_faults),
                                     cmocka_unit_test(odd_objects), cmocka_unit_test(refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
