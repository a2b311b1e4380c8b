/* What is known of each process, by its number: events only name who did it. Bounded: the one not heard of for longest
 * goes first, and /proc answers for it again when it comes back. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include "../events.h"
#include "json.h"

#define DOCKER_CHARS 31
#define TICK_NS 10000000ull

enum process_flags {
	FROM_EXEC = 1,
	FROM_PROC = 2,
	FROM_FORK = 4,
	ARGS_CUT = 8,
	ARGS_UNREAD = 16,
	CWD_UNREAD = 32,
	CWD_ROOT = 64,
	UNSEEN = 128,
	ENDED = 256,
};

/* What one exec made: shared by all that were forked from it. Kept as the JSON it is told in. */
struct image {
	unsigned refs;
	u32 text_len;
	u32 extra_len;
	char text[]; /* cwd, binary, arguments; then what only an exec line tells of the file */
};

struct process {
	struct process *next_in_bucket;
	struct process *newer, *older;
	unsigned refs;
	bool listed;
	bool has_creds;
	u32 pid;
	u64 start_ticks;
	u64 ktime; /* of its exec or fork: with the pid its exec_id */
	u32 uid, auid, flags;
	bool has_parent, has_ns;
	u32 parent_pid;
	u64 parent_ktime;
	struct process *parent; /* only while it is listed: a chain of generations would never be freed */
	struct creds creds;
	u32 ns[NS_KINDS];
	u64 cgroup;
	char docker[DOCKER_CHARS + 1];
	struct image *image;
};

void processes_init(const char *node_name);
/* The process of this number that began then (0 = whenever), or nothing. */
struct process *process_find(u32 pid, u64 start_ns);
/* A new one in the place of any of the same number; fields are the caller's. Takes references of its own. */
struct process *process_add(u32 pid, u64 start_ticks, u64 ktime, struct process *parent, struct image *image);
/* It ended; late answers may still ask for it for a while. */
void process_end(struct process *process);
bool process_has_ended(const struct process *process);
unsigned processes_count(void);

/* An image whose only reference is the caller's. */
struct image *image_make(const char *text, u32 text_len, const char *extra, u32 extra_len);
void image_drop(struct image *image);

/* The `process` object; `whole` adds what only exec lines tell. */
void put_process(struct text *to, const struct process *process, bool whole);
/* `"process":{..},"parent":{..}` */
void put_lineage(struct text *to, const struct process *process, bool whole);

#endif
