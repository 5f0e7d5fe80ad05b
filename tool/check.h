/* check.h: the parts of `graze check`: what was asked, and what is printed. */
#ifndef TOOL_CHECK_H
#define TOOL_CHECK_H

#include "output.h"
#include "rules.h"
#include "scene_options.h"
#include "session.h"

typedef struct check_options {
  common_options common;
  graze_check_def def;
  rule_options rules;
  bool all, curves;
  bool pictures_given; /* --pictures was there */
} check_options;

/* command_check.c: what the options come to. */
void check_complete(check_options *check);

/* check_print.c: the table, the verdict and the lists on stdout. */
void print_check(output *out, const session *run, const check_options *options, const graze_check *check);

#endif
