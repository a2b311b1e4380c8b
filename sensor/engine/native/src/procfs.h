/* What /proc knows of processes that were there before the programs were attached, or whose beginning was lost. */
#ifndef PROCFS_H
#define PROCFS_H

#include "processes.h"

/* Learns a process and those above it; nothing when it has gone. */
struct process *procfs_adopt(u32 pid);
/* Learns every process there is and hands over each that began before `began`. */
void procfs_adopt_all(u64 began, void (*tell)(struct process *, u64), u64 time);
/* Joins arguments that are separated by zeros, without the first one, as one text. */
void put_arguments(struct text *to, const char *words, size_t len);
/* The texts of an image: `,"cwd":..,"binary":..,"arguments":..`. */
void put_image(struct text *to, const char *cwd, size_t cwd_len, const char *binary, size_t binary_len,
	       const char *words, size_t words_len);
struct text *image_text(void);

#endif
