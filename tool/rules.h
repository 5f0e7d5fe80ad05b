/* rules.h: which pairs of objects are checked: sets of objects by pattern, pairs of sets, ignore rules; and how many
 * pairs each rule took out or let in. */
#ifndef TOOL_RULES_H
#define TOOL_RULES_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "load.h"

typedef enum rule_kind {
  rule_only,          /* check pairs of an object of one set and one of the other; several such rules add up */
  rule_ignore,        /* leave out pairs of an object of one set and one of the other */
  rule_ignore_layers, /* the same of two layers */
  rule_ignore_pairs,  /* pairs that the scene file lists */
  rule_same_parent,   /* leave out objects whose names have the same path before the last '/' */
  rule_relations,     /* pairs that are checked and, by their relation, not reported */
  rule_open           /* open meshes are surfaces; it counts the checked pairs that it concerns */
} rule_kind;

typedef struct object_set {
  const char *name; /* NULL: made of a single pattern by an ignore rule */
  const char **patterns;
  uint32_t pattern_count;
  uint32_t size; /* objects in it */
} object_set;

typedef struct rule {
  rule_kind kind;
  uint32_t first, second; /* sets */
  const char *layers[2];  /* of rule_ignore_layers */
  char *text; /* as a report shows it. All that selects pairs stands in it: an earlier report with the same texts is an
                 answer to the same question */
  uint64_t pairs; /* taken out or let in: of objects whose boxes meet (with --all, of all); of ignored layers and listed
                     pairs, wherever the objects are */
} rule;

typedef struct rules {
  object_set *sets;
  uint32_t set_count;
  rule *list;
  uint32_t count;
  bool only;           /* some rule is rule_only */
  uint64_t other_sets; /* pairs left out because no rule_only names them */
  const model *all;
  uint64_t *members; /* bit s of an object's words: it is in set s */
  uint32_t words;
  uint32_t *parents; /* number of the path before the last '/'; 0 = none */
} rules;

/* From the command line; a usage error ends the program. Texts must stay. */
void rules_add_set(rules *r, struct argp_state *state, char *text); /* NAME=PATTERN; a name again adds a pattern */
void rules_add_only(rules *r, struct argp_state *state, const char *first, const char *second);
void rules_add_ignored_names(rules *r, const char *first, const char *second);
void rules_add_ignored_layers(rules *r, const char *first, const char *second);
void rules_add_same_parent(rules *r);
void rules_add_relations(rules *r, unsigned reported); /* bits of those that are reported */
void rules_add_open(rules *r);

/* The argument after an option's own, for options that take two; a usage error if there is none. */
const char *rules_next_argument(struct argp_state *state, const char *option);

/* Adds the scene file's rules, finds the members of every set (one that is empty gets a note) and counts what the
 * ignore lists take out. */
void rules_prepare(rules *r, const model *all);

/* Whether a pair is to be checked (graze_pair_function); user: rules. */
bool rules_want(void *user, uint64_t a, uint64_t b);

/* Tells the scene of the ignored layers. */
void rules_apply_layers(const rules *r, graze_scene *scene);

/* True when rules_want must be asked: it can say no, or counts. */
bool rules_select(const rules *r);

void rules_free(rules *r);

#endif
