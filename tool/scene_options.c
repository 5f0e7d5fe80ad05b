/* From options to the definition of a check. */
#include "scene_options.h"

#include <string.h>
#include <strings.h>

#include "options.h"

enum {
  key_exactness = 1,
  key_open,
  key_units,
  key_file_units,
  key_strict,
  key_allow_empty,
  key_up,
  key_cache,
  key_split
};

static const struct argp_option options[] = {
    {"exactness", key_exactness, "TIER", 0,
     "t0: coordinates as given, no poses; t1 (default): after the pose, each operation rounded once; t2: the "
     "real-number image",
     2},
    {"open", key_open, "RULE", 0,
     "how to treat meshes with holes: unknown (default): the relation of whatever may be inside is unknown; surface: "
     "they have no inside",
     2},
    {"units", key_units, "UNITS", 0,
     "work in m, mm, cm, in or ft: files that state their units are converted, others are assumed to be in UNITS", 2},
    {"file-units", key_file_units, "UNITS", 0, "the numbers in the files are in UNITS, whatever the files say", 2},
    {"strict", key_strict, NULL, 0, OPTIONS_STRICT_HELP, 2},
    {"allow-empty", key_allow_empty, NULL, 0, "pass over objects without triangles", 2},
    {"up", key_up, "AXIS", 0, OPTIONS_UP_HELP, 2},
    {"cache", key_cache, "FOLDER", 0,
     "keep baked meshes in FOLDER, so that the next run with the same meshes starts sooner", 2},
    {"split", key_split, "HOW", OPTION_ARG_OPTIONAL,
     "make objects of the groups (default: OBJ 'o' or 'g' records, STL solids) of a mesh file, or of the connected "
     "parts of any mesh",
     2},
    {0}};

/* Bits of graze/io.h. */
static unsigned split_of(struct argp_state *state, const char *argument) {
  static const char *const names[] = {"groups", "parts", NULL};
  if (!argument || options_choice(state, "split", argument, names) == 0) return GRAZE_READ_GROUPS;
  return GRAZE_READ_PARTS;
}

static error_t parse_scene(int key, char *argument, struct argp_state *state) {
  static const char *const open_names[] = {"unknown", "surface", NULL};
  graze_check_def *def = state->input;
  switch (key) {
    case key_exactness:
      def->exactness = (graze_exactness)options_choice(state, "exactness", argument, exactness_names);
      return 0;
    case key_open:
      def->open = (graze_open_rule)options_choice(state, "open", argument, open_names);
      return 0;
    case key_units:
      def->units = unit_names[options_choice(state, "units", argument, unit_names)];
      return 0;
    case key_file_units:
      def->file_units = unit_names[options_choice(state, "file-units", argument, unit_names)];
      return 0;
    case key_strict:
      def->reading |= GRAZE_READ_STRICT;
      return 0;
    case key_allow_empty:
      def->allow_empty = true;
      return 0;
    case key_up:
      def->up = options_choice(state, "up", argument, up_names) == 0 ? GRAZE_UP_Y : GRAZE_UP_Z;
      return 0;
    case key_cache:
      def->cache = argument;
      return 0;
    case key_split:
      def->reading |= split_of(state, argument);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

const struct argp scene_argp = {.options = options, .parser = parse_scene};

bool scene_is_file(const char *path) {
  size_t length = strlen(path);
  return length > 5 && strcasecmp(path + length - 5, ".json") == 0;
}

void scene_take_files(struct argp_state *state, graze_check_def *def) {
  file_list files = options_files(state, 1, UINT32_MAX);
  bool is_scene = false;
  for (uint32_t i = 0; i < files.count; i++) is_scene |= scene_is_file(files.names[i]);
  if (is_scene && files.count > 1) argp_error(state, "a scene stands alone: no other files beside it");
  if (is_scene && def->reading & (GRAZE_READ_GROUPS | GRAZE_READ_PARTS)) argp_error(state, "--split is for mesh files");
  def->files = (const char *const *)files.names;
  def->file_count = files.count;
}
