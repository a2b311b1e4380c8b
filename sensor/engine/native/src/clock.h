/* The kernel stamps with the time since boot; lines carry wall time. Small corrections of the wall clock are not followed. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include "json.h"

uint64_t boot_ns(void);
uint64_t wall_ns(void);
/* A wall time as put_time takes it: before this start of the machine less than 0, which it takes too. */
uint64_t boot_of_wall(uint64_t wall);
void follow_wall_clock(void);
/* A quoted time with nanoseconds. */
void put_time(struct text *to, uint64_t boot);

#endif
