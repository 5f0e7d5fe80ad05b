/* verbs.h: one function per verb; argv[0] is "graze VERB". The result is the exit code. */
#ifndef TOOL_VERBS_H
#define TOOL_VERBS_H

int command_check(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_info(int argc, char **argv);
int command_make(int argc, char **argv);
int command_pairs(int argc, char **argv);
int command_self(int argc, char **argv);
int command_tritri(int argc, char **argv);
int command_watch(int argc, char **argv);

#endif
