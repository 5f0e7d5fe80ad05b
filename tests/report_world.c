/* report_world.c: see report_world.h. */
#include "report_world.h"

#include <stdlib.h>
#include <string.h>

#include "families.h"

const char created[] = "2025-01-31T12:00:00Z", later[] = "2025-02-01T12:00:00Z";

void world_open(world *w) {
  double corners[12 * 9];
  memset(w, 0, sizeof *w);
  w->context = test_context(1, NULL);
  soup_box((double[3]){0, 0, 0}, (double[3]){1, 1, 1}, corners);
  w->cube = test_mesh(w->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  soup_box((double[3]){0, 0, 0}, (double[3]){8, 8, 1}, corners);
  w->slab = test_mesh(w->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  w->report = (graze_report){.title = "test",
                             .created = created,
                             .units = "m",
                             .engine = "cpu",
                             .exactness = "t1",
                             .complete = true,
                             .objects = w->objects,
                             .clashes = w->clashes,
                             .object_pairs = 66};
}

void world_close(world *w) {
  graze_mesh_destroy(w->cube);
  graze_mesh_destroy(w->slab);
  graze_context_destroy(w->context);
}

uint32_t add_object(world *w, const char *name, const char *layer, double x) {
  graze_report_object *object = &w->objects[w->report.object_count];
  *object =
      (graze_report_object){name, layer, "cubes.obj", w->cube, test_translation(x, 0, 0), NULL, NULL, NULL, NULL, 0};
  return w->report.object_count++;
}

graze_report_clash *add_clash(world *w, uint32_t a, uint32_t b, graze_relation relation, double x) {
  graze_report_clash *clash = &w->clashes[w->report.clash_count++];
  *clash = (graze_report_clash){.a = a, .b = b, .relation = relation, .point = {x, 0.5, 0.5}, .depth = 0.25};
  clash->counts = (graze_counts){7, 1, 2, 3, 4, 1, 0x0123456789abcdef + w->report.clash_count};
  clash->box = (graze_box){{x - 0.5, 0, 0}, {x + 0.5, 1, 1}};
  clash->group_object = clash->group_layers = clash->group_place = GRAZE_NO_GROUP;
  return clash;
}

void identify(world *w) {
  assert_int_equal(
      graze_report_identify(shared_context(1), w->objects, w->report.object_count, w->clashes, w->report.clash_count),
      GRAZE_OK);
}

void fill_world(world *w) {
  for (int i = 0; i < 4; i++)
    add_object(w, (const char *[]){"A", "B", "C", "D"}[i], i < 2 ? "steel" : "pipes", i * 0.75);
  add_clash(w, 0, 1, GRAZE_CROSS, 0.875);
  add_clash(w, 1, 2, GRAZE_CROSS, 1.625);
  add_clash(w, 2, 3, GRAZE_TOUCH, 2.375);
  identify(w);
}

graze_report_previous *reread(const graze_report *report, const char *path) {
  graze_report_previous *previous = NULL;
  graze_status status = graze_report_write_json(shared_context(1), path, report, true);
  if (status == GRAZE_OK) status = graze_report_previous_read(shared_context(1), path, &previous);
  if (status != GRAZE_OK) fail_msg("%s", shared_error()->message);
  return previous;
}

graze_report_merged carry(world *now, const graze_report_previous *previous) {
  graze_report_merged carried;
  if (graze_report_merge_previous(shared_context(1), &now->report, previous, &carried) != GRAZE_OK)
    fail_msg("%s", shared_error()->message);
  return carried;
}

void mark(world *w, int clash, const char *word, const char *comment) {
  w->clashes[clash].mark = word;
  w->clashes[clash].comment = comment;
}
