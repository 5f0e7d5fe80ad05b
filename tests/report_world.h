/* report_world.h: a small record to write and to carry on: cubes of side 1 in a row, names and layers by letter. Shared
 * by the tests of the reports. */
#ifndef GRAZE_TESTS_REPORT_WORLD_H
#define GRAZE_TESTS_REPORT_WORLD_H

#include "graze/report.h"
#include "support.h"

enum { max_objects = 12, max_clashes = 12 };

typedef struct world {
  graze_context *context;
  graze_mesh *cube, *slab;
  graze_report_object objects[max_objects];
  graze_report_clash clashes[max_clashes];
  graze_report report;
} world;

extern const char created[], later[]; /* times; the record is of the first */

void world_open(world *w);
void world_close(world *w);

uint32_t add_object(world *w, const char *name, const char *layer, double x);
graze_report_clash *add_clash(world *w, uint32_t a, uint32_t b, graze_relation relation, double x);
void identify(world *w);
void mark(world *w, int clash, const char *word, const char *comment);

/* Four cubes: A-B and B-C cross, C-D touch. */
void fill_world(world *w);

/* Written to `path` as JSON and read back. */
graze_report_previous *reread(const graze_report *report, const char *path);

graze_report_merged carry(world *now, const graze_report_previous *previous);

#endif
