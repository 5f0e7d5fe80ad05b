/* number_lines.h: text of a record a line, each of so many numbers, decimal or C hex floats. */
#ifndef TOOL_NUMBER_LINES_H
#define TOOL_NUMBER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct number_lines {
  FILE *file;
  const char *name; /* as messages call it */
  bool commas;      /* a number may be followed by one; false after opening */
  uint64_t line;    /* of the one that was read last, from 1 */
  char *text;       /* what is left of it */
  const char *end;
  size_t capacity;
  char *memory;
} number_lines;

/* "-" is the standard input. What cannot be opened or read ends the program. */
number_lines number_lines_open(const char *path);
void number_lines_close(number_lines *lines);

/* Goes to the next line; false behind the last one. */
bool number_lines_next(number_lines *lines);

/* Takes the word from the line if it comes next, with blanks around it. */
bool number_lines_take_word(number_lines *lines, const char *word);

/* The next `count` finite numbers of the line. NULL if they are there, else what is wrong with them, as static text. */
const char *number_lines_take(number_lines *lines, double *values, int count);

/* All the rest of the line: `count` finite numbers. NULL if it is, else what is wrong with it, as static text. */
const char *number_lines_take_all(number_lines *lines, double *values, int count);

#endif
