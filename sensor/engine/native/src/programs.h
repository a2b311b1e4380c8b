/* Loads the programs, attaches each where the kernel allows, and says of the others why not. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include "../events.h"

struct options {
	struct settings settings;
	u32 ring_kib;
	u32 ignored[IGNORED_MAX];
	unsigned ignored_count;
	u64 cgroups[CGROUPS_MAX];
	unsigned cgroups_count;
	struct { const char *prefix; u32 how; } watched[WATCHED_MAX];
	unsigned watched_count;
};

struct disabled {
	const char *hook;
	bool is_missing; /* it should have been attached: what it tells is told by nobody */
	char reason[256];
};

typedef void tell_record(const void *record, size_t size);

/* Whether the kernel takes the programs, processes at least; attaches nothing. 0 or a negative errno. */
int programs_probe(const struct options *options);
/* libbpf's last words about what it refused; empty when there were none. */
const char *programs_last_words(void);
/* 0, or a negative errno when not even processes can be seen. */
int programs_start(const struct options *options, const char *cgroup_root, tell_record *tell);
const struct disabled *programs_disabled(unsigned *count);
unsigned programs_attached(void);
/* What becomes readable when there is something to take. */
int programs_fd(void);
/* From now on this process is told as any other. */
void programs_unignore(u32 pid);
#define TAKE_MOST 4096
/* Takes what the ring holds, at most TAKE_MOST; how many. */
unsigned programs_take(void);
/* Tells connects whose source port was not learned in time, or all that wait. */
void programs_sweep(bool all);
struct bpf_object;
/* Gives an object that is not loaded yet the ring, the counters and the lists, and copies the settings. 0 or a negative
 * errno. */
int programs_share(struct bpf_object *other, struct settings *settings);
/* What libbpf says from here on is about something else. */
void programs_forget_words(void);
/* Everything the kernel did not hand over: no room in the ring, and programs that could not run. */
u64 programs_lost(void);
u64 programs_count(enum counter which);
/* Nothing is told that happens from then on, a moment in the future; what happens before is, and comes for a while. The
 * kernel detaches the programs when the process ends. */
u64 programs_stop(void);

#endif
