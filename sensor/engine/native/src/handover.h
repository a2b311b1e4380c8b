/* One engine writes an export at a time. The next one attaches its programs, asks the last one to end when nobody else
 * does, waits here until it has let go, and learns from a page they share what it left behind: when it stopped telling,
 * or that it was killed. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <stdbool.h>
#include "../events.h"

/* Opens the page beside the export. 0 or a negative errno. */
int handover_open(const char *export_file);
/* Waits for the one before, and asks it to end, and ends it when it does not, unless somebody else sees to that and awaits
 * this one. From then on told_before knows what that one has told, and unwatched.h what nobody has. */
int handover_take(bool is_awaited);
/* A sign of life, a few times a second. */
void handover_sign(void);
/* So many losses are told by no line yet: a full disk refused it. The next one tells them, should this one be killed. */
void handover_owe(u64 losses);
/* Its last moment comes: nothing is signed any more. */
void handover_prepare_to_leave(void);
/* Lets go; everything up to then has been written, and what was told last is left with it. */
void handover_leave(u64 told_until);

#endif
