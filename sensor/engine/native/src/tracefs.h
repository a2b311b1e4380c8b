/* The kernel's tracepoints, on machines where nobody has mounted tracefs too. */
#ifndef TRACEFS_H
#define TRACEFS_H

#include <stdbool.h>
#include <stdio.h>
#include "../events.h"

struct bpf_link;
struct bpf_program;

/* Opens a file below `events/`, to read; 0 with errno when there is none. */
FILE *tracefs_open(const char *event, const char *file);
/* Whether the kernel has this tracepoint, as "category/name". */
bool tracefs_has(const char *event);
/* Attaches a program to "category/name"; programs read the cookie (0 = none, which every kernel takes). 0 with errno. */
struct bpf_link *tracefs_attach(const struct bpf_program *program, const char *event, u64 cookie);

#endif
