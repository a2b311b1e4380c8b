#include "processes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "kernel-names.h"

#define BUCKETS 8192
#define PROCESSES_MAX 16384
#define IMAGE_BYTES_MAX (8u << 20)
#define ENDED_MAX 1024

static struct process *buckets[BUCKETS];
static struct process *newest, *oldest;
/* By name, not by pointer: what has ended holds no memory that is needed otherwise. */
static struct { u32 pid; u64 start_ticks; } ended[ENDED_MAX];
static unsigned listed, ended_at;
static u64 image_bytes;
static char node[256];

void processes_init(const char *node_name)
{
	snprintf(node, sizeof(node), "%s", node_name);
}

unsigned processes_count(void)
{
	return listed;
}

struct image *image_make(const char *text, u32 text_len, const char *extra, u32 extra_len)
{
	struct image *image = malloc(sizeof(*image) + text_len + extra_len);

	if (!image)
		abort();
	image->refs = 1;
	image->text_len = text_len;
	image->extra_len = extra_len;
	memcpy(image->text, text, text_len);
	memcpy(image->text + text_len, extra, extra_len);
	image_bytes += text_len + extra_len;
	return image;
}

void image_drop(struct image *image)
{
	if (!image || --image->refs > 0)
		return;
	image_bytes -= image->text_len + image->extra_len;
	free(image);
}

static void drop(struct process *process)
{
	if (!process || --process->refs > 0)
		return;
	image_drop(process->image);
	free(process);
}

static void leave_order(struct process *process)
{
	*(process->newer ? &process->newer->older : &newest) = process->older;
	*(process->older ? &process->older->newer : &oldest) = process->newer;
	process->newer = process->older = 0;
}

static void enter_order(struct process *process)
{
	process->older = newest;
	process->newer = 0;
	*(newest ? &newest->newer : &oldest) = process;
	newest = process;
}

static void unlist(struct process *process)
{
	struct process **at = &buckets[process->pid % BUCKETS];
	struct process *parent = process->parent;

	while (*at != process)
		at = &(*at)->next_in_bucket;
	*at = process->next_in_bucket;
	leave_order(process);
	process->listed = false;
	process->parent = 0;
	listed -= 1;
	drop(parent);
	drop(process);
}

static struct process *look_up(u32 pid)
{
	struct process *found = buckets[pid % BUCKETS];

	while (found && found->pid != pid)
		found = found->next_in_bucket;
	return found;
}

struct process *process_find(u32 pid, u64 start_ns)
{
	struct process *found = look_up(pid);

	if (!found || (start_ns && found->start_ticks != start_ns / TICK_NS))
		return 0;
	if (found != newest) {
		leave_order(found);
		enter_order(found);
	}
	return found;
}

struct process *process_add(u32 pid, u64 start_ticks, u64 ktime, struct process *parent, struct image *image)
{
	struct process *before = process_find(pid, 0), *process = calloc(1, sizeof(*process));

	if (!process)
		abort();
	process->refs = 1;
	process->listed = true;
	process->pid = pid;
	process->start_ticks = start_ticks;
	process->ktime = ktime;
	process->image = image;
	image->refs += 1;
	if (parent) {
		process->has_parent = true;
		process->parent_pid = parent->pid;
		process->parent_ktime = parent->ktime;
		process->parent = parent;
		parent->refs += 1;
	}
	if (before)
		unlist(before);
	process->next_in_bucket = buckets[pid % BUCKETS];
	buckets[pid % BUCKETS] = process;
	enter_order(process);
	listed += 1;
	while ((listed > PROCESSES_MAX || image_bytes > IMAGE_BYTES_MAX) && oldest != process)
		unlist(oldest);
	return process;
}

bool process_has_ended(const struct process *process)
{
	return process->flags & ENDED;
}

void process_end(struct process *process)
{
	unsigned place = ended_at++ % ENDED_MAX;
	struct process *earlier = look_up(ended[place].pid);

	process->flags |= ENDED;
	if (earlier && earlier != process && (earlier->flags & ENDED) && earlier->start_ticks == ended[place].start_ticks)
		unlist(earlier);
	ended[place].pid = process->pid;
	ended[place].start_ticks = process->start_ticks;
}

static void put_exec_id(struct text *to, u32 pid, u64 ktime)
{
	char plain[sizeof(node) + 48];
	int len = snprintf(plain, sizeof(plain), "%s:%llu:%u", node, (unsigned long long)ktime, pid);

	put(to, "\"");
	put_base64(to, plain, len);
	put(to, "\"");
}

/* In the order Tetragon writes them. */
static void put_flags(struct text *to, u32 flags)
{
	static const struct { u32 flag; const char *name; } words[] = {
		{ FROM_EXEC, " execve" }, { FROM_PROC, " procFS auid" }, { ARGS_CUT, " truncArgs" }, { UNSEEN, " miss" },
		{ ARGS_UNREAD, " errorArgs" }, { CWD_ROOT, " rootcwd" }, { CWD_UNREAD, " errorCWD" }, { FROM_FORK, " clone" },
	};
	char all[128] = " ";

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (flags & words[i].flag)
			strcat(all, words[i].name + (all[1] == 0));
	put_string(to, all + 1, strlen(all + 1));
}

void put_process(struct text *to, const struct process *process, bool whole)
{
	const struct image *image = process->image;

	put(to, "{\"exec_id\":");
	put_exec_id(to, process->pid, process->ktime);
	put(to, ",\"pid\":");
	put_number(to, process->pid);
	put(to, ",\"uid\":");
	put_number(to, process->uid);
	put_bytes(to, image->text, image->text_len);
	put(to, ",\"flags\":");
	put_flags(to, process->flags);
	put(to, ",\"start_time\":");
	put_time(to, process->ktime);
	put(to, ",\"auid\":");
	put_number(to, process->auid);
	if (process->docker[0]) {
		put(to, ",\"docker\":");
		put_string(to, process->docker, strlen(process->docker));
	}
	if (process->has_parent) {
		put(to, ",\"parent_exec_id\":");
		put_exec_id(to, process->parent_pid, process->parent_ktime);
	}
	put(to, ",\"refcnt\":1");
	if (whole) {
		put(to, ",\"cap\":");
		put_capabilities(to, &process->creds);
	}
	if (process->has_ns) {
		put(to, ",\"ns\":");
		put_namespaces(to, process->ns, whole);
	}
	put(to, ",\"tid\":");
	put_number(to, process->pid);
	if (whole)
		put_bytes(to, image->text + image->text_len, image->extra_len);
	put(to, "}");
}

void put_lineage(struct text *to, const struct process *process, bool whole)
{
	put(to, "\"process\":");
	put_process(to, process, whole);
	if (process->parent) {
		put(to, ",\"parent\":");
		put_process(to, process->parent, false);
	}
}
