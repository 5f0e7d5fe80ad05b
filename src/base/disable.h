/* GRAZE_DISABLE in the environment: a list of parts of the machine that are not to be used. In a header, so that leaves
 * need nothing of the library for it. */
#ifndef GRAZE_SRC_BASE_DISABLE_H
#define GRAZE_SRC_BASE_DISABLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_disabled(const char *name) {
  const char *list = getenv("GRAZE_DISABLE");
  size_t length = strlen(name);
  while (list != NULL && *list != '\0') {
    size_t item = strcspn(list, ",");
    if (item == length && strncmp(list, name, length) == 0) return true;
    list += item;
    if (*list == ',') list++;
  }
  return false;
}

#endif
