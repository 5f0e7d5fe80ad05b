/* film.h: what page and pictures of a film have in common; private to report. */
#ifndef GRAZE_REPORT_FILM_H
#define GRAZE_REPORT_FILM_H

#include "fault.h"

/* A film that contradicts itself is refused: `name` is what the message begins with. */
graze_status gz_film_check(const graze_context *context, const graze_film *film, const char *name);

/* The box of all objects at all steps; empty without triangles. */
graze_box gz_film_bounds(const graze_film *film);

#endif
