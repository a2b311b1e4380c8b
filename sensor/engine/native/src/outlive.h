/* When whoever started this engine is gone without having asked it to end, it goes on for a while: its export is read on
 * by the next one, and a new engine takes over from it as from any other. */
#ifndef OUTLIVE_H
#define OUTLIVE_H

#include <stdbool.h>
#include "../events.h"

/* For how long at most, and how much it may write meanwhile; 0 = it does not. */
void outlive_allow_ms(u64 ms);
void outlive_allow_bytes(u64 bytes);
/* Its input has ended without a word. False = it is not to go on. */
bool outlive_begin(void);
/* Whether it has waited, or written, long enough. */
bool outlive_is_over(void);

#endif
