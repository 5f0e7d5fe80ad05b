/* diagnostics.h: what goes to stderr, how the program ends early, and Ctrl-C. */
#ifndef TOOL_DIAGNOSTICS_H
#define TOOL_DIAGNOSTICS_H

#include <stdbool.h>

#include "base/file.h"

enum exit_code { exit_clear = 0, exit_found = 1, exit_usage = 2, exit_incomplete = 3 };

/* "graze check": what messages start with. */
void diagnostics_start(const char *program);

/* What ends the program after a failure, instead of _exit: it must not return. For a program that has others to tell.
 */
void diagnostics_end_with(void (*end)(int code));

/* Switches notes off. */
void diagnostics_quiet(void);

/* A line on stderr, unless quiet. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on stderr; then the program ends with exit 3. Output files that are half written are removed. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* fail() for a refused allocation. */
_Noreturn void fail_out_of_memory(void);

/* gz_new_file_create; until unfinished_done() the file is removed when the program ends early. `file` must stay. Eight
 * files at a time. */
bool unfinished_create(new_file *file, const char *path);
void unfinished_done(const new_file *file);

/* Ctrl-C and SIGTERM end the program with exit 3. After interrupts_ask() the first one only makes
 * interrupts_came() true. */
void interrupts_install(void);

/* What an interrupt means in the verb, in the manner of "nothing was decided"; the text must stay. NULL: the program
 * ends without a word, as somebody else has one. */
void interrupts_mean(const char *words);
void interrupts_ask(void);
bool interrupts_came(void);

#endif
