/* Sets and rules, from options to the arrays of a definition. */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "diagnostics.h"
#include "options.h"

enum { key_set = 1, key_between, key_within, key_ignore_names, key_ignore_layers, key_same_parent };

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Which pairs:", 20},
    {"set", key_set, "NAME=PATTERN", 0,
     "name a set of objects: those whose name matches the shell pattern or, with layer:PATTERN, whose layer does; "
     "repeat to add to it",
     20},
    {"between", key_between, "SET SET", 0, "only check pairs with an object in each set", 20},
    {"within", key_within, "SET", 0, "only check pairs within the set", 20},
    {"ignore-names", key_ignore_names, "PATTERN PATTERN", 0, "skip pairs of objects that match the two patterns", 20},
    {"ignore-layers", key_ignore_layers, "LAYER LAYER", 0, "skip pairs of objects on the two layers", 20},
    {"ignore-same-parent", key_same_parent, NULL, 0, "skip pairs whose names have the same path before the last '/'",
     20},
    {0}};

static void *grow(void *array, uint32_t count, size_t size) {
  void *larger = realloc(array, (count + 1) * size);
  if (!larger) fail_out_of_memory();
  return larger;
}

static void add_set(rule_options *rules, struct argp_state *state, char *text) {
  char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1]) {
    argp_error(state, "--set: '%s' is not NAME=PATTERN", text);
    return;
  }
  *equals = 0;
  rules->sets = grow(rules->sets, rules->set_count, sizeof *rules->sets);
  rules->sets[rules->set_count++] = (graze_check_set){text, equals + 1};
}

static void add_rule(rule_options *rules, graze_check_rule_kind kind, const char *first, const char *second) {
  rules->rules = grow(rules->rules, rules->rule_count, sizeof *rules->rules);
  rules->rules[rules->rule_count++] = (graze_check_rule){.kind = kind, .first = first, .second = second};
}

static void need_set(const rule_options *rules, struct argp_state *state, const char *name) {
  nearest n = {.wanted = name};
  for (uint32_t i = 0; i < rules->set_count; i++) {
    if (strcmp(rules->sets[i].name, name) == 0) return;
    gz_nearest_offer(&n, rules->sets[i].name);
  }
  argp_error(state, "no --set before this has the name '%s'%s", name, gz_did_you_mean(&n).text);
}

static void add_between(rule_options *rules, struct argp_state *state, const char *first, const char *second) {
  need_set(rules, state, first);
  need_set(rules, state, second);
  add_rule(rules, GRAZE_CHECK_BETWEEN, first, second);
}

/* What begins with "--" is the next option, and an argument was forgotten. */
static const char *next_argument(struct argp_state *state, const char *option, const char *which) {
  if (state->next < state->argc && strncmp(state->argv[state->next], "--", 2) != 0) return state->argv[state->next++];
  argp_error(state, "--%s: %s argument is missing", option, which);
  return "";
}

static error_t parse_rules(int key, char *argument, struct argp_state *state) {
  rule_options *rules = state->input;
  const char *second = NULL;
  switch (key) {
    case key_set:
      add_set(rules, state, argument);
      return 0;
    case key_between:
      add_between(rules, state, argument, next_argument(state, "between", "a second"));
      return 0;
    case key_within:
      add_between(rules, state, argument, argument);
      return 0;
    case key_ignore_names:
      add_rule(rules, GRAZE_CHECK_IGNORE_NAMES, argument, next_argument(state, "ignore-names", "a second"));
      return 0;
    case key_ignore_layers:
      second = next_argument(state, "ignore-layers", "a second");
      if (argument[0] == '\0' || second[0] == '\0') argp_error(state, "--ignore-layers: a layer has no name");
      add_rule(rules, GRAZE_CHECK_IGNORE_LAYERS, argument, second);
      return 0;
    case key_same_parent:
      add_rule(rules, GRAZE_CHECK_IGNORE_SAME_PARENT, NULL, NULL);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

const struct argp rules_argp = {.options = options, .parser = parse_rules};

/* ---- what pairs are to keep ---- */

enum { key_clearance = 1 };

static const struct argp_option clearance_options[] = {
    {"clearance-between", key_clearance, "SET SET LENGTH", 0,
     "what pairs with an object in each set are to keep, instead of --clearance; the first that names a pair counts",
     20},
    {0}};

static void add_clearance(rule_options *rules, struct argp_state *state, const char *first) {
  const char *second = next_argument(state, "clearance-between", "a second");
  const char *length = next_argument(state, "clearance-between", "a third");
  need_set(rules, state, first);
  need_set(rules, state, second);
  options_length(state, "clearance-between", length);
  add_rule(rules, GRAZE_CHECK_CLEARANCE, first, second);
  rules->rules[rules->rule_count - 1].length = length;
}

static error_t parse_clearance(int key, char *argument, struct argp_state *state) {
  if (key != key_clearance) return ARGP_ERR_UNKNOWN;
  add_clearance(state->input, state, argument);
  return 0;
}

const struct argp clearance_argp = {.options = clearance_options, .parser = parse_clearance};

void rules_complete(const rule_options *rules, graze_check_def *def) {
  def->sets = rules->sets;
  def->set_count = rules->set_count;
  def->rules = rules->rules;
  def->rule_count = rules->rule_count;
}

void rules_free(rule_options *rules) {
  free(rules->sets);
  free(rules->rules);
}
