/* One engine writes an export at a time. The next one attaches its programs, waits here until the last has let go, and
 * learns from a page they share what it left behind: when it stopped telling, or that it was killed and how many
 * processes have begun since it was last seen alive. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <stdbool.h>
#include "../events.h"

/* Opens the page beside the export. 0 or a negative errno. */
int handover_open(const char *export_file);
/* Waits for the one before, and ends it when it does not let go, unless somebody else sees to that and awaits this one;
 * `attached` is when this one began to see. From then on told_before knows what that one has told. */
int handover_take(u64 attached, bool is_awaited);
/* At most how many processes and threads began unseen between the last sign of a killed engine and this one. */
u64 handover_unseen(void);
/* For how long nobody watched; 0 unless the one before was killed. */
u64 handover_gap_ms(void);
/* A sign of life, a few times a second. */
void handover_sign(void);
/* Lets go; everything up to then has been written, and what was told last is left with it. */
void handover_leave(u64 told_until);

#endif
