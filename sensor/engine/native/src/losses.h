/* What was lost, as it is told in the export: each loss once, also where a full disk refuses the line for a while. */
#ifndef LOSSES_H
#define LOSSES_H

#include "../events.h"

/* Tells what was lost since the last time that could be told. */
void tell_losses(void);
/* How many losses no line tells yet. */
u64 losses_untold(void);

#endif
