/* The network of a prediction; see network.h. */
#include "mpi/network.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"

static void set(network *n, const char *path, int line, const char *key, const char *value) {
  const struct {
    const char *key;
    double *to;
  } keys[] = {{"latency", &n->times.latency},
              {"overhead", &n->times.overhead},
              {"gap", &n->times.gap},
              {"gap_per_byte", &n->times.gap_per_byte}};
  if (strcmp(key, "name") == 0) {
    snprintf(n->name, sizeof n->name, "%s", value);
    return;
  }
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    char *end = NULL;
    if (strcmp(key, keys[i].key) != 0) continue;
    *keys[i].to = strtod(value, &end);
    if (end == value || *end != 0 || !(*keys[i].to >= 0 && isfinite(*keys[i].to)))
      fail("%s:%d: %s: '%s' is not a time in seconds", path, line, key, value);
    return;
  }
  fail("%s:%d: unknown key '%s'", path, line, key);
}

static void read_line(network *n, const char *path, int line, char *text) {
  text[strcspn(text, "#\r\n")] = 0;
  char *key = text + strspn(text, " \t"), *value = key + strcspn(key, " \t");
  if (*key == 0) return;
  if (*value != 0) *value++ = 0;
  value += strspn(value, " \t");
  for (size_t end = strlen(value); end > 0 && strchr(" \t", value[end - 1]); end--) value[end - 1] = 0;
  set(n, path, line, key, value);
}

network network_read(const char *path) {
  network n = {.name = "Red Storm", .times = graze_mpi_default_predict_def().network};
  char text[512];
  if (!path) return n;
  n = (network){.name = ""};
  FILE *file = fopen(path, "re");
  if (!file) fail("%s: cannot open: %s", path, strerror(errno));
  for (int line = 1; fgets(text, sizeof text, file); line++) read_line(&n, path, line, text);
  if (ferror(file)) fail("%s: cannot read: %s", path, strerror(errno));
  fclose(file);
  if (n.name[0] == 0) snprintf(n.name, sizeof n.name, "%.100s", path);
  return n;
}
