/* The line an export file begins with: how many lines were written before it, so that a reader who finds files gone knows
 * how many lines it never read. What counts are the lines that stand in the files, whoever wrote them, torn ones too.
 *
 * A power loss takes lines back. So they are counted in runs, and one ends with the boot: the head says which it is, and
 * what stood in the export when it began. */
#ifndef EXPORT_HEAD_H
#define EXPORT_HEAD_H

#include <stddef.h>
#include <stdint.h>
#include "json.h"

#define HEAD_MAX_BYTES 1024

/* What was written up to the end of a file. */
struct standing {
	uint64_t lines;
	uint64_t lines_before_run;
	char run[81];
};

/* 0 when there is no such file or nothing in it. */
int read_standing(const char *file, struct standing *to);
/* Goes on with the run of the newest file, or begins one. Once a process. */
void join_run(const struct standing *newest);
/* The head of the file that follows the newest. */
void put_head(struct text *to, const struct standing *newest);
/* Whether a crash left nothing but the first part of a head. */
int is_torn_head(const char *bytes, size_t len);

#endif
