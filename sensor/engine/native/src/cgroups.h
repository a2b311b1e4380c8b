/* From a cgroup to the container it belongs to. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "processes.h"

/* Where the unified hierarchy is mounted, or nothing. */
const char *cgroups_init(void);
/* Finds a container's id (64 hexadecimal digits) in a name; writes its first 31, or nothing. */
void docker_of_name(char *docker, const char *name, size_t len);
/* The same from a cgroup's number: its path is asked of the kernel once and remembered. */
void docker_of_cgroup(char *docker, u64 cgroup);

#endif
