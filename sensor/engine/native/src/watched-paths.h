/* Which paths are told of when they are opened. */
#ifndef WATCHED_PATHS_H
#define WATCHED_PATHS_H
#include "programs.h"

/* Tells opens below a path, `how` being WATCH_READ and WATCH_WRITE. 0, or -1 when there are too many or it is too long. */
int watch_path(struct options *options, const char *prefix, u32 how);
/* What is watched when nobody names a path. */
void watch_usual_paths(struct options *options);
#endif
