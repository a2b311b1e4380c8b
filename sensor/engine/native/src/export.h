/* The export file: whole lines only, readable by its owner only, rotated by renaming as lumberjack does. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdint.h>
#include "json.h"

struct export_totals {
	uint64_t written;
	uint64_t bytes;
	uint64_t lost; /* lines the disk refused, or that were too long */
};
extern struct export_totals export_totals;

/* Where the export lies; its directory is made. 0, or a negative errno. */
int export_place(const char *file, uint64_t max_bytes, unsigned max_backups);
/* Opens it; only one engine may. 0, or a negative errno. */
int export_open(void);
/* Whether the lines that end from now on are left out. */
void export_mute(int muted);
/* Where the next line is written, with room for the longest one. */
struct text *export_line(void);
/* Ends the line; one that did not fit is dropped and counted. */
void export_end_line(void);
void export_flush(void);

#endif
