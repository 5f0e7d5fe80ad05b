/* bench/report.h: rows to CSV, and the table of ratios at the end. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "contest.h"

typedef struct report report;

report *report_open(const char *path, bool append, int threads); /* path NULL: standard output */
void report_contest(report *r, const contest *c);
void report_close(report *r); /* prints the table and frees */

#endif
