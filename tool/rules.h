/* rules.h: the options of `check` and `watch` that say which pairs of objects are checked. */
#ifndef TOOL_RULES_H
#define TOOL_RULES_H

#include <argp.h>

#include "graze/check.h"

typedef struct rule_options {
  graze_check_set *sets;
  graze_check_rule *rules;
  uint32_t set_count, rule_count;
} rule_options;

/* To be a child of the verb's argp; its input is a rule_options. */
extern const struct argp rules_argp;

/* Clearances between sets: likewise. */
extern const struct argp clearance_argp;

/* Puts them into the definition, which does not own them. */
void rules_complete(const rule_options *rules, graze_check_def *def);
void rules_free(rule_options *rules);

#endif
