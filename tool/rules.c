/* Sets are bits of each object, so that asking about a pair is a few ands. Patterns are tried once for each object. */
#include "rules.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"

/* ---- making ------------------------------------------------------------------------------------------------ */

static void *grow(void *array, uint32_t count, size_t size) {
  void *larger = realloc(array, (count + 1) * size);
  if (!larger) fail_out_of_memory();
  return larger;
}

static uint32_t find_set(const rules *r, const char *name) {
  uint32_t i = 0;
  while (i < r->set_count && (!r->sets[i].name || strcmp(r->sets[i].name, name) != 0)) i++;
  return i;
}

static uint32_t new_set(rules *r, const char *name) {
  r->sets = grow(r->sets, r->set_count, sizeof *r->sets);
  r->sets[r->set_count] = (object_set){.name = name};
  return r->set_count++;
}

static void add_pattern(object_set *set, const char *pattern) {
  set->patterns = grow(set->patterns, set->pattern_count, sizeof *set->patterns);
  set->patterns[set->pattern_count++] = pattern;
}

static rule *add_rule(rules *r, rule_kind kind, uint32_t first, uint32_t second) {
  r->list = grow(r->list, r->count, sizeof *r->list);
  rule *added = &r->list[r->count++];
  *added = (rule){.kind = kind, .first = first, .second = second};
  return added;
}

void rules_add_set(rules *r, struct argp_state *state, char *text) {
  char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1]) {
    argp_error(state, "--set: '%s' is not NAME=PATTERN", text);
    return;
  }
  *equals = 0;
  uint32_t set = find_set(r, text);
  if (set == r->set_count) set = new_set(r, text);
  add_pattern(&r->sets[set], equals + 1);
}

static void add_only(rules *r, uint32_t first, uint32_t second) {
  add_rule(r, rule_only, first, second);
  r->only = true;
}

void rules_add_only(rules *r, struct argp_state *state, const char *first, const char *second) {
  uint32_t a = find_set(r, first), b = find_set(r, second);
  if (a == r->set_count) argp_error(state, "no --set before this has the name '%s'", first);
  if (b == r->set_count) argp_error(state, "no --set before this has the name '%s'", second);
  if (a < r->set_count && b < r->set_count) add_only(r, a, b);
}

void rules_add_ignored_names(rules *r, const char *first, const char *second) {
  uint32_t a = new_set(r, NULL), b = new_set(r, NULL);
  add_pattern(&r->sets[a], first);
  add_pattern(&r->sets[b], second);
  add_rule(r, rule_ignore, a, b);
}

void rules_add_ignored_layers(rules *r, const char *first, const char *second) {
  rule *added = add_rule(r, rule_ignore_layers, 0, 0);
  added->layers[0] = first;
  added->layers[1] = second;
}

void rules_add_same_parent(rules *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->list[i].kind == rule_same_parent) return;
  }
  add_rule(r, rule_same_parent, 0, 0);
}

void rules_add_relations(rules *r, unsigned reported) {
  add_rule(r, rule_relations, reported, 0);
}

void rules_add_open(rules *r) {
  add_rule(r, rule_open, 0, 0);
}

/* What begins with "--" is the next option, and an argument was forgotten. */
const char *rules_next_argument(struct argp_state *state, const char *option) {
  if (state->next < state->argc && strncmp(state->argv[state->next], "--", 2) != 0) return state->argv[state->next++];
  argp_error(state, "--%s: a second argument is missing", option);
  return "";
}

/* ---- members ----------------------------------------------------------------------------------------------- */

static void add_scene_rules(rules *r, const graze_scene_file *file) {
  for (uint32_t i = 0; i < file->set_count; i++) {
    uint32_t set = find_set(r, file->sets[i].name);
    if (set == r->set_count) set = new_set(r, file->sets[i].name);
    for (uint32_t k = 0; k < file->sets[i].pattern_count; k++) add_pattern(&r->sets[set], file->sets[i].patterns[k]);
  }
  for (uint32_t i = 0; i < file->check_count; i++)
    add_only(r, find_set(r, file->check[i][0]), find_set(r, file->check[i][1]));
  for (uint32_t i = 0; i < file->ignore_name_count; i++)
    rules_add_ignored_names(r, file->ignore_names[i][0], file->ignore_names[i][1]);
  for (uint32_t i = 0; i < file->ignore_layer_count; i++)
    rules_add_ignored_layers(r, file->ignore_layers[i][0], file->ignore_layers[i][1]);
  if (file->ignore_same_parent) rules_add_same_parent(r);
  if (file->ignore_count > 0) add_rule(r, rule_ignore_pairs, 0, 0)->pairs = file->ignore_count;
}

static bool matches(const char *pattern, const model_object *object) {
  bool layer = strncmp(pattern, "layer:", 6) == 0;
  return fnmatch(layer ? pattern + 6 : pattern, layer ? object->layer : object->name, 0) == 0;
}

static void find_members(rules *r) {
  r->words = r->set_count / 64 + 1;
  r->members = calloc((size_t)r->all->object_count + 1, r->words * sizeof *r->members);
  if (!r->members) fail_out_of_memory();
  for (uint32_t s = 0; s < r->set_count; s++) {
    object_set *set = &r->sets[s];
    for (uint32_t i = 0; i < r->all->object_count; i++) {
      uint32_t k = 0;
      while (k < set->pattern_count && !matches(set->patterns[k], &r->all->objects[i])) k++;
      if (k == set->pattern_count) continue;
      r->members[(size_t)i * r->words + s / 64] |= (uint64_t)1 << s % 64;
      set->size++;
    }
    if (set->size == 0 && set->name) note("the set %s has no objects", set->name);
  }
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(a, b);
}

typedef struct numbered {
  char *text; /* first: the tree compares it */
  uint32_t number;
} numbered;

static int compare_numbered(const void *a, const void *b) {
  return compare_texts(((const numbered *)a)->text, ((const numbered *)b)->text);
}

static void free_numbered(void *node) {
  free(((numbered *)node)->text);
  free(node);
}

/* Numbers the paths before the names' last '/'. */
static void find_parents(rules *r) {
  void *tree = NULL;
  uint32_t known = 0;
  r->parents = calloc((size_t)r->all->object_count + 1, sizeof *r->parents);
  if (!r->parents) fail_out_of_memory();
  for (uint32_t i = 0; i < r->all->object_count; i++) {
    const char *name = r->all->objects[i].name, *slash = strrchr(name, '/');
    if (!slash) continue;
    numbered *added = malloc(sizeof *added);
    if (!added || !(added->text = strndup(name, (size_t)(slash - name)))) fail_out_of_memory();
    added->number = known + 1;
    numbered **found = tsearch(added, &tree, compare_numbered);
    if (!found) fail_out_of_memory();
    r->parents[i] = (*found)->number;
    if (*found == added)
      known++;
    else
      free_numbered(added);
  }
  tdestroy(tree, free_numbered);
}

/* The scene leaves these out itself, wherever the objects are. */
static void count_layers(rules *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    rule *one = &r->list[i];
    if (one->kind != rule_ignore_layers) continue;
    uint64_t size[2] = {0, 0};
    for (uint32_t k = 0; k < r->all->object_count; k++) {
      for (int j = 0; j < 2; j++) size[j] += strcmp(r->all->objects[k].layer, one->layers[j]) == 0;
    }
    bool same = strcmp(one->layers[0], one->layers[1]) == 0;
    one->pairs = same ? size[0] * (size[0] - (size[0] > 0)) / 2 : size[0] * size[1];
  }
}

/* ---- texts ------------------------------------------------------------------------------------------------- */

/* pipes ("pipe *", "layer:tubes") */
static void write_set(FILE *out, const object_set *set) {
  if (set->name) fprintf(out, "%s (", set->name);
  for (uint32_t i = 0; i < set->pattern_count; i++) fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", set->patterns[i]);
  if (set->name) fputc(')', out);
}

static void write_two_sets(FILE *out, const rules *r, const rule *one, const char *before) {
  fputs(before, out);
  write_set(out, &r->sets[one->first]);
  if (one->kind == rule_only && one->first == one->second) return;
  fputs(" and ", out);
  write_set(out, &r->sets[one->second]);
}

/* FNV-1a of the names, each with its final zero: another list has another text. */
static uint64_t hash_ignored(const graze_scene_file *file) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t i = 0; i < 2 * file->ignore_count; i++) {
    const char *c = file->objects[file->ignore[i / 2][i % 2]].name;
    do hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    while (*c++);
  }
  return hash;
}

static void write_left_out(FILE *out, unsigned reported) {
  const char *before = "leave out ";
  for (int k = GRAZE_SEPARATE + 1; k <= GRAZE_UNKNOWN; k++) {
    if (k == GRAZE_CLEARANCE || (reported >> k & 1)) continue;
    fprintf(out, "%s%s", before, graze_relation_string((graze_relation)k));
    before = ", ";
  }
}

static void write_rule(FILE *out, const rules *r, const rule *one) {
  switch (one->kind) {
    case rule_only:
      write_two_sets(out, r, one, one->first == one->second ? "within " : "between ");
      break;
    case rule_ignore:
      write_two_sets(out, r, one, "ignore names ");
      break;
    case rule_ignore_layers:
      fprintf(out, "ignore layers \"%s\" and \"%s\"", one->layers[0], one->layers[1]);
      break;
    case rule_ignore_pairs:
      fprintf(out, "ignore listed pairs (hash %016" PRIx64 ")", hash_ignored(&r->all->file));
      break;
    case rule_same_parent:
      fputs("ignore objects of the same parent", out);
      break;
    case rule_relations:
      write_left_out(out, one->first);
      break;
    case rule_open:
      fputs("open meshes are surfaces", out);
      break;
  }
}

static void write_texts(rules *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    size_t size;
    FILE *out = open_memstream(&r->list[i].text, &size);
    if (!out) fail_out_of_memory();
    write_rule(out, r, &r->list[i]);
    if (fclose(out) != 0) fail_out_of_memory();
  }
}

void rules_prepare(rules *r, const model *all) {
  r->all = all;
  add_scene_rules(r, &all->file);
  write_texts(r);
  find_members(r);
  find_parents(r);
  count_layers(r);
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

static bool in_set(const rules *r, uint64_t object, uint32_t set) {
  return r->members[object * r->words + set / 64] >> set % 64 & 1;
}

/* Rules that take nothing out here: the scene does, or nobody. */
static bool is_selecting(const rule *one) {
  return one->kind == rule_only || one->kind == rule_ignore || one->kind == rule_same_parent;
}

static bool concerns(const rules *r, const rule *one, uint64_t a, uint64_t b) {
  if (one->kind == rule_same_parent) return r->parents[a] != 0 && r->parents[a] == r->parents[b];
  return (in_set(r, a, one->first) && in_set(r, b, one->second)) ||
         (in_set(r, b, one->first) && in_set(r, a, one->second));
}

/* Each pair counts for the first rule that decides it. */
static bool is_let_in(rules *r, uint64_t a, uint64_t b) {
  for (int only = 0; only < 2; only++) {
    for (uint32_t i = 0; i < r->count; i++) {
      rule *one = &r->list[i];
      if (!is_selecting(one) || (one->kind == rule_only) != only || !concerns(r, one, a, b)) continue;
      one->pairs++;
      return only;
    }
  }
  r->other_sets += r->only;
  return !r->only;
}

static bool is_open(const rules *r, uint64_t object) {
  const graze_mesh_facts *facts = &r->all->meshes[r->all->objects[object].mesh].facts;
  return !facts->closed || !facts->oriented;
}

bool rules_want(void *user, uint64_t a, uint64_t b) {
  rules *r = user;
  if (!is_let_in(r, a, b)) return false;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->list[i].kind == rule_open) r->list[i].pairs += is_open(r, a) || is_open(r, b);
  }
  return true;
}

bool rules_select(const rules *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    if (is_selecting(&r->list[i]) || r->list[i].kind == rule_open) return true;
  }
  return false;
}

void rules_apply_layers(const rules *r, graze_scene *scene) {
  for (uint32_t i = 0; i < r->count; i++) {
    const rule *one = &r->list[i];
    if (one->kind != rule_ignore_layers) continue;
    if (graze_scene_ignore_layers(scene, one->layers[0], one->layers[1]) != GRAZE_OK) fail_out_of_memory();
  }
}

void rules_free(rules *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    free(r->list[i].text);
  }
  for (uint32_t i = 0; i < r->set_count; i++) free(r->sets[i].patterns);
  free(r->sets);
  free(r->list);
  free(r->members);
  free(r->parents);
  *r = (rules){0};
}
