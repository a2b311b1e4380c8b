/* What the engine says of itself on its standard output, a line of JSON each; whoever started it listens. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "../events.h"
#include "json.h"

#define VERSION "1.7.0"

/* Ends the line that begins at `start` and says it. */
void say(struct text *to, char *start);
/* It watches; the one before may let go of the export now. Said before its hello, by one that was started beside another. */
void say_attached(void);
void say_hello(void);
void say_alive(void);
/* No room in the ring, or a program the kernel skipped. */
u64 kernel_lost(void);
u64 engine_lost(void);

#endif
