/* Sets are bits of each object, so that asking about a pair is a few ands. Patterns are tried once for each object. */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "check.h"

/* ---- making ------------------------------------------------------------------------------------------------ */

static uint32_t find_set(const rules *r, const char *name) {
  uint32_t i = 0;
  while (i < r->set_count && (r->sets[i].name == NULL || strcmp(r->sets[i].name, name) != 0)) i++;
  return i;
}

static graze_status add_pattern(graze_check *c, object_set *set, const char *pattern) {
  const char **patterns = gz_check_grow(c, set->patterns, set->pattern_count, sizeof *patterns);
  if (patterns == NULL) return GRAZE_ERROR_MEMORY;
  set->patterns = patterns;
  set->patterns[set->pattern_count++] = pattern;
  return GRAZE_OK;
}

/* A set of one pattern; a name (NULL: none) again adds the pattern to it. */
static graze_status add_set(graze_check *c, const char *name, const char *pattern) {
  rules *r = &c->rules;
  uint32_t set = name != NULL ? find_set(r, name) : r->set_count;
  if (set == r->set_count) {
    object_set *sets = gz_check_grow(c, r->sets, r->set_count, sizeof *sets);
    if (sets == NULL) return GRAZE_ERROR_MEMORY;
    r->sets = sets;
    r->sets[r->set_count++] = (object_set){.name = name};
  }
  return add_pattern(c, &r->sets[set], pattern);
}

static graze_status add_rule(graze_check *c, const rule *one) {
  rules *r = &c->rules;
  rule *list = gz_check_grow(c, r->list, r->count, sizeof *list);
  if (list == NULL) return GRAZE_ERROR_MEMORY;
  r->list = list;
  r->list[r->count++] = *one;
  r->only |= one->kind == RULE_ONLY;
  return GRAZE_OK;
}

/* Adds a rule of two sets. */
static graze_status add_between(graze_check *c, rule one, const char *first, const char *second) {
  one.first = find_set(&c->rules, first);
  one.second = find_set(&c->rules, second);
  const char *missing = one.first == c->rules.set_count ? first : one.second == c->rules.set_count ? second : NULL;
  if (missing == NULL) return add_rule(c, &one);
  nearest n = {.wanted = missing};
  for (uint32_t i = 0; i < c->rules.set_count; i++) {
    if (c->rules.sets[i].name != NULL) gz_nearest_offer(&n, c->rules.sets[i].name);
  }
  return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "no set has the name '%.200s'%s", missing, gz_did_you_mean(&n).text);
}

static graze_status add_ignored_names(graze_check *c, const char *first, const char *second) {
  const rule one = {.kind = RULE_IGNORE, .first = c->rules.set_count, .second = c->rules.set_count + 1};
  graze_status status = add_set(c, NULL, first);
  if (status == GRAZE_OK) status = add_set(c, NULL, second);
  return status == GRAZE_OK ? add_rule(c, &one) : status;
}

static graze_status add_kind(graze_check *c, rule_kind kind, const char *first, const char *second) {
  const rule one = {.kind = kind, .layers = {first, second}};
  for (uint32_t i = 0; kind == RULE_SAME_PARENT && i < c->rules.count; i++) {
    if (c->rules.list[i].kind == kind) return GRAZE_OK;
  }
  return add_rule(c, &one);
}

/* Of two sets, or (NULL) of all objects. A length of 0 for all asks for nothing. */
static graze_status add_clearance(graze_check *c, const char *const sets[2], const char *length, const char *own) {
  rule one = {.kind = RULE_CLEARANCE, .first = UINT32_MAX, .second = UINT32_MAX};
  graze_status status = gz_check_parse_length(c, "clearance", length, own, &one.length);
  if (status != GRAZE_OK || (one.length == 0 && sets == NULL)) return status;
  return sets == NULL ? add_rule(c, &one) : add_between(c, one, sets[0], sets[1]);
}

/* Whether some pair is to keep a length. */
static graze_status find_clear(graze_check *c) {
  double length = 0;
  graze_status status = GRAZE_OK;
  if (c->def.clearance != NULL) status = gz_check_parse_length(c, "clearance", c->def.clearance, "", &length);
  c->rules.clear = length > 0 || c->file.clearance_count > 0;
  for (uint32_t i = 0; i < c->def.rule_count; i++) c->rules.clear |= c->def.rules[i].kind == GRAZE_CHECK_CLEARANCE;
  return status;
}

static graze_status add_asked(graze_check *c, const graze_check_rule *asked) {
  bool two = asked->kind != GRAZE_CHECK_IGNORE_SAME_PARENT;
  if (two && (asked->first == NULL || asked->second == NULL))
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: a rule lacks one of its two texts");
  switch (asked->kind) {
    case GRAZE_CHECK_BETWEEN:
      return add_between(c, (rule){.kind = RULE_ONLY}, asked->first, asked->second);
    case GRAZE_CHECK_IGNORE_NAMES:
      return add_ignored_names(c, asked->first, asked->second);
    case GRAZE_CHECK_IGNORE_LAYERS:
      return add_kind(c, RULE_IGNORE_LAYERS, asked->first, asked->second);
    case GRAZE_CHECK_IGNORE_SAME_PARENT:
      return add_kind(c, RULE_SAME_PARENT, NULL, NULL);
    case GRAZE_CHECK_CLEARANCE:
      if (asked->length == NULL) return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: a clearance has no length");
      return add_clearance(c, (const char *const[2]){asked->first, asked->second}, asked->length, "");
    default:
      return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: unknown kind of a rule");
  }
}

/* Of two sets, or (NULL) of all objects. */
static graze_status add_forgiving(graze_check *c, const char *const sets[2], const char *length, const char *own) {
  rule one = {.kind = RULE_FORGIVE, .first = UINT32_MAX, .second = UINT32_MAX};
  graze_status status = gz_check_parse_tolerance(c, length, own, &one.length);
  if (status != GRAZE_OK || (one.length == 0 && sets == NULL)) return status;
  if (sets != NULL) {
    one.first = find_set(&c->rules, sets[0]);
    one.second = find_set(&c->rules, sets[1]);
  }
  c->def.places = c->rules.tolerant = true;
  return add_rule(c, &one);
}

/* What is asked of every pair is a rule too: it decides what a report lists. */
static graze_status add_defined(graze_check *c) {
  const graze_check_def *d = &c->def;
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < d->set_count && status == GRAZE_OK; i++)
    status = add_set(c, d->sets[i].name, d->sets[i].pattern);
  for (uint32_t i = 0; i < d->rule_count && status == GRAZE_OK; i++) status = add_asked(c, &d->rules[i]);
  if (status == GRAZE_OK && gz_check_leaves_out(c)) status = add_kind(c, RULE_RELATIONS, NULL, NULL);
  if (status == GRAZE_OK && d->open == GRAZE_OPEN_SURFACE) status = add_kind(c, RULE_OPEN, NULL, NULL);
  return status;
}

static graze_status add_scene_rules(graze_check *c) {
  const graze_scene_file *file = &c->file;
  const rule listed = {.kind = RULE_IGNORE_PAIRS, .pairs = file->ignore_count};
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < file->set_count; i++) {
    for (uint32_t k = 0; k < file->sets[i].pattern_count && status == GRAZE_OK; k++)
      status = add_set(c, file->sets[i].name, file->sets[i].patterns[k]);
  }
  for (uint32_t i = 0; i < file->check_count && status == GRAZE_OK; i++)
    status = add_between(c, (rule){.kind = RULE_ONLY}, file->check[i][0], file->check[i][1]);
  for (uint32_t i = 0; i < file->ignore_name_count && status == GRAZE_OK; i++)
    status = add_ignored_names(c, file->ignore_names[i][0], file->ignore_names[i][1]);
  for (uint32_t i = 0; i < file->ignore_layer_count && status == GRAZE_OK; i++)
    status = add_kind(c, RULE_IGNORE_LAYERS, file->ignore_layers[i][0], file->ignore_layers[i][1]);
  for (uint32_t i = 0; i < file->clearance_count && status == GRAZE_OK; i++)
    status = add_clearance(c, (const char *const *)file->clearance[i], file->clearance[i][2], file->units);
  for (uint32_t i = 0; i < file->tolerance_count && status == GRAZE_OK; i++)
    status = add_forgiving(c, (const char *const *)file->tolerance[i], file->tolerance[i][2], file->units);
  if (status == GRAZE_OK && file->ignore_same_parent) status = add_kind(c, RULE_SAME_PARENT, NULL, NULL);
  return status == GRAZE_OK && file->ignore_count > 0 ? add_rule(c, &listed) : status;
}

/* ---- members ----------------------------------------------------------------------------------------------- */

static const char OF_LAYERS[] = "layer:";

static bool is_of_layers(const char *pattern) {
  return strncmp(pattern, OF_LAYERS, strlen(OF_LAYERS)) == 0;
}

static bool matches(const char *pattern, const check_object *object) {
  bool layer = is_of_layers(pattern);
  return fnmatch(layer ? pattern + strlen(OF_LAYERS) : pattern, layer ? object->layer : object->name, 0) == 0;
}

/* With a backslash before each quote and backslash: different rules have different texts, whatever names hold. */
static char *put_escaped(graze_check *c, char *text, const char *word) {
  for (size_t length = strcspn(word, "\"\\"); word[length] != 0; length = strcspn(word, "\"\\")) {
    text = gz_check_append(c, text, "%.*s\\%c", (int)length, word, word[length]);
    word += length + 1;
  }
  return gz_check_append(c, text, "%s", word);
}

static char *put_quoted(graze_check *c, char *text, const char *before, const char *word) {
  return gz_check_append(c, put_escaped(c, gz_check_append(c, text, "%s\"", before), word), "\"");
}

/* pipes ("pipe *", "layer:tubes") */
static char *put_set(graze_check *c, char *text, const object_set *set) {
  if (set->name != NULL) text = gz_check_append(c, put_escaped(c, text, set->name), " (");
  for (uint32_t i = 0; i < set->pattern_count; i++) text = put_quoted(c, text, i > 0 ? ", " : "", set->patterns[i]);
  return set->name != NULL ? gz_check_append(c, text, ")") : text;
}

/* Without the signs of patterns. NULL: refused. */
static char *plain_text(graze_check *c, const char *pattern) {
  char *text = gz_check_print(c, "%s", pattern), *end = text;
  for (const char *p = text; p != NULL && *p; p++) {
    if (strchr("*?[]", *p) == NULL) *end++ = *p;
  }
  if (end != NULL) *end = '\0';
  return text;
}

/* A typing error in a pattern would leave out what was to be checked. Names whose last part alone matches are the
 * nearest: "bolt*" was meant for "jig/bolt1". */
static graze_status fail_empty(graze_check *c, const object_set *set) {
  const char *pattern = set->patterns[0];
  bool layer = is_of_layers(pattern);
  if (layer) pattern += strlen(OF_LAYERS);
  char *text = put_set(c, gz_check_print(c, "the set "), set);
  nearest n = {.wanted = plain_text(c, pattern)};
  if (text == NULL || n.wanted == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < c->object_count; i++) {
    const char *name = layer ? c->objects[i].layer : c->objects[i].name, *slash = strrchr(name, '/');
    if (slash != NULL && fnmatch(pattern, slash + 1, 0) == 0)
      gz_nearest_keep(&n, name, 0);
    else if (name[0] != '\0')
      gz_nearest_offer(&n, name);
  }
  const char *near = n.count == 0 ? "" : layer ? "; the nearest layers: " : "; the nearest names: ";
  return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "%.200s has no objects%s%s", text, near, gz_nearest_list(&n).text);
}

static graze_status find_members(graze_check *c) {
  rules *r = &c->rules;
  r->words = r->set_count / 64 + 1;
  r->members = gz_check_alloc(c, c->object_count, r->words * sizeof *r->members);
  if (r->members == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t s = 0; s < r->set_count; s++) {
    const object_set *set = &r->sets[s];
    uint32_t size = 0;
    for (uint32_t i = 0; i < c->object_count; i++) {
      uint32_t k = 0;
      while (k < set->pattern_count && !matches(set->patterns[k], &c->objects[i])) k++;
      if (k == set->pattern_count) continue;
      r->members[(size_t)i * r->words + s / 64] |= (uint64_t)1 << s % 64;
      size++;
    }
    if (size == 0 && set->name != NULL) return fail_empty(c, set);
  }
  return GRAZE_OK;
}

static bool in_set(const rules *r, uint64_t object, uint32_t set) {
  return r->members[object * r->words + set / 64] >> set % 64 & 1;
}

/* A set of one object against itself has no pairs, which looks like a clear answer. */
static void note_alone(const graze_check *c, const rule *one) {
  const rules *r = &c->rules;
  uint32_t either = 0, last = 0;
  for (uint32_t i = 0; i < c->object_count; i++) {
    if (!in_set(r, i, one->first) && !in_set(r, i, one->second)) continue;
    either++;
    last = i;
  }
  if (either > 1) return;
  gz_check_note(c, GRAZE_LOG_WARNING, "%.300s: no pairs, for \"%.100s\" is the only object", one->text,
                c->objects[last].name);
}

/* Numbers the paths before the names' last '/'. */
static graze_status find_parents(graze_check *c) {
  gz_text_map paths = {0};
  graze_status status = GRAZE_OK;
  c->rules.parents = gz_check_alloc(c, c->object_count, sizeof *c->rules.parents);
  if (c->rules.parents == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < c->object_count; i++) {
    const char *name = c->objects[i].name, *slash = strrchr(name, '/');
    if (slash == NULL) continue;
    const uint32_t *number = gz_check_map_add(c, &paths, name, (size_t)(slash - name), (uint32_t)paths.count + 1);
    if (number == NULL) {
      status = GRAZE_ERROR_MEMORY;
      break;
    }
    c->rules.parents[i] = *number;
  }
  gz_text_map_close(&paths);
  return status;
}

/* The scene leaves these out itself, wherever the objects are. */
static void count_layers(graze_check *c) {
  for (uint32_t i = 0; i < c->rules.count; i++) {
    rule *one = &c->rules.list[i];
    if (one->kind != RULE_IGNORE_LAYERS) continue;
    uint64_t size[2] = {0, 0};
    for (uint32_t k = 0; k < c->object_count; k++) {
      for (int j = 0; j < 2; j++) size[j] += strcmp(c->objects[k].layer, one->layers[j]) == 0;
    }
    bool same = strcmp(one->layers[0], one->layers[1]) == 0;
    one->pairs = same ? size[0] * (size[0] - (size[0] > 0)) / 2 : size[0] * size[1];
  }
}

/* ---- texts ------------------------------------------------------------------------------------------------- */

static char *tell_sets(graze_check *c, const rule *one, const char *before) {
  const object_set *sets = c->rules.sets;
  char *text = put_set(c, gz_check_print(c, "%s", before), &sets[one->first]);
  if (one->kind == RULE_ONLY && one->first == one->second) return text;
  return put_set(c, gz_check_append(c, text, " and "), &sets[one->second]);
}

/* FNV-1a of the names, each with its final zero: another list has another text. */
static uint64_t hash_ignored(const graze_scene_file *file) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t i = 0; i < 2 * file->ignore_count; i++) {
    const char *letter = file->objects[file->ignore[i / 2][i % 2]].name;
    do hash = (hash ^ (unsigned char)*letter) * 0x100000001b3;
    while (*letter++);
  }
  return hash;
}

static char *tell_left_out(graze_check *c) {
  char *text = gz_check_print(c, "leave out ");
  const char *before = "";
  for (int k = GRAZE_SEPARATE + 1; k <= GRAZE_UNKNOWN; k++) {
    if ((k == GRAZE_CLEARANCE && !c->rules.clear) || (c->def.relations >> k & 1)) continue;
    text = gz_check_append(c, text, "%s%s", before, graze_relation_string((graze_relation)k));
    before = ", ";
  }
  return text;
}

/* Of which pairs: nothing, if of all. */
static char *tell_between(graze_check *c, const rule *one, char *text) {
  if (one->first == UINT32_MAX) return text;
  text = put_set(c, gz_check_append(c, text, " between "), &c->rules.sets[one->first]);
  return put_set(c, gz_check_append(c, text, " and "), &c->rules.sets[one->second]);
}

/* The length as it was given: another one has another text. */
static char *tell_forgiving(graze_check *c, const rule *one) {
  char length[32];
  graze_format_double(one->length, length);
  char *text = isinf(one->length) ? gz_check_print(c, "forgive overlaps within the precision of the files")
                                  : gz_check_print(c, "forgive overlaps of up to %s%s%s", length,
                                                   *c->units != '\0' ? " " : "", c->units);
  return tell_between(c, one, text);
}

static char *tell_clearance(graze_check *c, const rule *one) {
  char length[32];
  graze_format_double(one->length, length);
  return tell_between(c, one, gz_check_print(c, "clearance of %s%s%s", length, *c->units != '\0' ? " " : "", c->units));
}

static char *tell(graze_check *c, const rule *one) {
  switch (one->kind) {
    case RULE_ONLY:
      return tell_sets(c, one, one->first == one->second ? "within " : "between ");
    case RULE_IGNORE:
      return tell_sets(c, one, "ignore names ");
    case RULE_IGNORE_LAYERS:
      return put_quoted(c, put_quoted(c, gz_check_print(c, "ignore layers "), "", one->layers[0]), " and ",
                        one->layers[1]);
    case RULE_IGNORE_PAIRS:
      return gz_check_print(c, "ignore listed pairs (hash %016" PRIx64 ")", hash_ignored(&c->file));
    case RULE_SAME_PARENT:
      return gz_check_print(c, "ignore objects of the same parent");
    case RULE_RELATIONS:
      return tell_left_out(c);
    case RULE_OPEN:
      return gz_check_print(c, "open meshes are surfaces");
    case RULE_FORGIVE:
      return tell_forgiving(c, one);
    case RULE_CLEARANCE:
      return tell_clearance(c, one);
  }
  return NULL;
}

graze_status gz_check_make_rules(graze_check *c) {
  graze_status status = find_clear(c);
  if (status == GRAZE_OK) status = add_defined(c);
  if (status == GRAZE_OK) status = add_scene_rules(c);
  if (status == GRAZE_OK && c->def.clearance != NULL) status = add_clearance(c, NULL, c->def.clearance, "");
  if (status == GRAZE_OK && c->def.tolerance != NULL) status = add_forgiving(c, NULL, c->def.tolerance, "");
  for (uint32_t i = 0; i < c->rules.count && status == GRAZE_OK; i++) {
    rule *one = &c->rules.list[i];
    one->text = tell(c, one);
    if (one->text == NULL) status = GRAZE_ERROR_MEMORY;
  }
  if (status == GRAZE_OK) status = find_members(c);
  for (uint32_t i = 0; i < c->rules.count && status == GRAZE_OK; i++) {
    if (c->rules.list[i].kind == RULE_ONLY) note_alone(c, &c->rules.list[i]);
  }
  if (status == GRAZE_OK) status = find_parents(c);
  if (status == GRAZE_OK) count_layers(c);
  return status;
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

/* Rules that take nothing out here: the scene does, or nobody. */
static bool is_selecting(const rule *one) {
  return one->kind == RULE_ONLY || one->kind == RULE_IGNORE || one->kind == RULE_SAME_PARENT;
}

static bool concerns(const rules *r, const rule *one, uint64_t a, uint64_t b) {
  if (one->kind == RULE_SAME_PARENT) return r->parents[a] != 0 && r->parents[a] == r->parents[b];
  return (in_set(r, a, one->first) && in_set(r, b, one->second)) ||
         (in_set(r, b, one->first) && in_set(r, a, one->second));
}

static bool is_let_in(rules *r, uint64_t a, uint64_t b) {
  for (int only = 0; only < 2; only++) {
    for (uint32_t i = 0; i < r->count; i++) {
      rule *one = &r->list[i];
      if (!is_selecting(one) || (one->kind == RULE_ONLY) != only || !concerns(r, one, a, b)) continue;
      one->pairs++;
      return only;
    }
  }
  r->other_sets += r->only;
  return !r->only;
}

static bool is_open(const graze_check *c, uint64_t object) {
  const graze_mesh_facts *facts = &c->meshes[c->objects[object].mesh].facts;
  return !facts->closed || !facts->oriented;
}

bool gz_check_rules_want(graze_check *c, uint64_t a, uint64_t b) {
  rules *r = &c->rules;
  if (!is_let_in(r, a, b)) return false;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->list[i].kind == RULE_OPEN) r->list[i].pairs += is_open(c, a) || is_open(c, b);
  }
  return true;
}

bool gz_check_rules_select(const graze_check *c) {
  for (uint32_t i = 0; i < c->rules.count; i++) {
    if (is_selecting(&c->rules.list[i]) || c->rules.list[i].kind == RULE_OPEN) return true;
  }
  return false;
}

static rule *first_rule(graze_check *c, rule_kind kind, uint64_t a, uint64_t b) {
  for (uint32_t i = 0; i < c->rules.count; i++) {
    rule *one = &c->rules.list[i];
    if (one->kind == kind && (one->first == UINT32_MAX || concerns(&c->rules, one, a, b))) return one;
  }
  return NULL;
}

rule *gz_check_forgiving_rule(graze_check *c, uint64_t a, uint64_t b) {
  return first_rule(c, RULE_FORGIVE, a, b);
}

rule *gz_check_clearance_rule(graze_check *c, uint64_t a, uint64_t b) {
  return first_rule(c, RULE_CLEARANCE, a, b);
}

double gz_check_clearance(void *user, uint64_t a, uint64_t b) {
  const rule *one = gz_check_clearance_rule(user, a, b);
  return one != NULL ? one->length : 0;
}

double gz_check_reach(void *user, uint64_t object) {
  const rules *r = &((const graze_check *)user)->rules;
  double most = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const rule *one = &r->list[i];
    if (one->kind != RULE_CLEARANCE || one->length <= most) continue;
    if (one->first == UINT32_MAX || in_set(r, object, one->first) || in_set(r, object, one->second)) most = one->length;
  }
  return most;
}
