/* verbs.h: the verbs, with their options and what they do. */
#ifndef TOOL_VERBS_H
#define TOOL_VERBS_H

#include <argp.h>
#include <stdbool.h>

typedef struct verb {
  const char *name;
  const char *summary;
  const struct argp *argp;           /* its options, and its help */
  const char *interrupted;           /* what Ctrl-C means; NULL: nothing was decided */
  int (*run)(int argc, char **argv); /* argv[0] is "graze VERB". The result is the exit code */
} verb;

/* The last one has no name. */
extern const verb verbs[];

/* What the program is, and its exit codes: for its help and its manual page. */
extern const char verbs_summary[], verbs_exit[];

/* NULL: there is none of that name. */
const verb *verb_find(const char *name);

extern const struct argp ccd_argp, check_argp, convex_argp, cull_argp, decompose_argp, depth_argp, devices_argp,
    distance_argp, info_argp, make_argp, motion_argp, pairs_argp, rays_argp, self_argp, simulate_argp, tritri_argp,
    watch_argp;
int command_ccd(int argc, char **argv);
int command_check(int argc, char **argv);
int command_convex(int argc, char **argv);
int command_cull(int argc, char **argv);
int command_decompose(int argc, char **argv);
int command_depth(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_distance(int argc, char **argv);
int command_info(int argc, char **argv);
int command_make(int argc, char **argv);
int command_motion(int argc, char **argv);
int command_pairs(int argc, char **argv);
int command_rays(int argc, char **argv);
int command_self(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_tritri(int argc, char **argv);
int command_watch(int argc, char **argv);

#endif
