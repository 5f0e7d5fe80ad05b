/* AUTO: which method, and why. */
#ifndef GRAZE_SRC_BROAD_CHOOSE_H
#define GRAZE_SRC_BROAD_CHOOSE_H

#include "broad/broad.h"

/* What is remembered from update to update; zero-initialised. */
typedef struct broad_choice {
  graze_broad_method method;
  const char *reason;
} broad_choice;

/* The method for this update, of which `edits` slots were edited. Sets the reason. */
graze_broad_method choose_method(broad_choice *choice, const broad_view *view, uint32_t edits);

/* What the update with the chosen method took. */
void choose_learn(broad_choice *choice, uint32_t edits, uint32_t live, double seconds);

#endif
