/* What the running kernel says of itself. */
#ifndef KERNEL_H
#define KERNEL_H

enum lsm_state { LSM_UNKNOWN, LSM_OFF, LSM_ON };

/* Whether the bpf LSM is among the active ones. */
enum lsm_state kernel_bpf_lsm(void);
/* Why a program of the LSM can do nothing here, or nothing when it can. */
const char *kernel_lsm_reason(void);
/* Why no program may answer in the place of a function here, or nothing when one may. */
const char *kernel_modify_reason(void);
/* The first line of a small file; empty when it cannot be read. */
void kernel_read_line(const char *file, char *to, int size);

#endif
