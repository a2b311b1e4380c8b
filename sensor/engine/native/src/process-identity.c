#include "process-identity.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cgroups.h"
#include "procfs.h"

#define SET_USER_ID 04000
#define SET_GROUP_ID 02000
#define INHERITED (ARGS_CUT | ARGS_UNREAD | CWD_UNREAD | CWD_ROOT)

static struct process *find_or_adopt(u32 pid, u64 start)
{
	struct process *process = process_find(pid, start);

	if (!process && pid > 0)
		process = procfs_adopt(pid);
	return process && (start == 0 || process->start_ticks == start / TICK_NS) ? process : 0;
}

/* A process may be moved to another cgroup; one that only a version 1 hierarchy names keeps what is known. */
static void follow_cgroup(struct process *process, u64 cgroup)
{
	char docker[DOCKER_CHARS + 1];

	if (process->cgroup == cgroup)
		return;
	process->cgroup = cgroup;
	docker_of_cgroup(docker, cgroup);
	if (docker[0])
		strcpy(process->docker, docker);
}

struct process *who(const struct event_head *head)
{
	struct process *process = find_or_adopt(head->tgid, head->start);

	if (!process) {
		struct text *text = image_text();
		char *start = text->at;
		struct image *image;

		put_image(text, "", 0, "", 0, "", 0);
		image = image_make(start, text->at - start, "", 0);
		process = process_add(head->tgid, head->start / TICK_NS, head->start, 0, image);
		image_drop(image);
		process->flags = UNSEEN;
		process->auid = ~0u;
	}
	process->uid = head->uid;
	follow_cgroup(process, head->cgroup);
	return process;
}

void who_forked(const struct event_fork *event)
{
	struct process *parent = find_or_adopt(event->ptgid, event->pstart), *child;

	if (!parent)
		return;
	child = process_add(event->head.tgid, event->head.start / TICK_NS, event->head.time, parent, parent->image);
	child->flags = FROM_FORK | (parent->flags & INHERITED);
	child->uid = parent->uid;
	child->auid = parent->auid;
	child->creds = parent->creds;
	child->has_creds = parent->has_creds;
	child->has_ns = parent->has_ns;
	memcpy(child->ns, parent->ns, sizeof(child->ns));
	child->cgroup = parent->cgroup;
	strcpy(child->docker, parent->docker);
	follow_cgroup(child, event->head.cgroup);
}

/* The name it was called by, made absolute; what cannot be is told as it was said. */
static size_t write_binary(char *to, const char *name, size_t name_len, const char *file, size_t file_len,
			   const char *cwd, size_t cwd_len)
{
	const char *base = memrchr(name, '/', name_len), *file_base = memrchr(file, '/', file_len);
	size_t base_len = base ? (size_t)(name + name_len - base - 1) : name_len;

	if (name_len > 0 && name[0] == '/') {
		memcpy(to, name, name_len);
		return name_len;
	}
	base = base ? base + 1 : name;
	if (file_base && (name_len == 0 || (base_len == (size_t)(file + file_len - file_base - 1) &&
					    !memcmp(base, file_base + 1, base_len)))) {
		memcpy(to, file, file_len);
		return file_len;
	}
	while (name_len > 2 && name[0] == '.' && name[1] == '/') {
		name += 2;
		name_len -= 2;
	}
	if (cwd_len <= 1)
		cwd_len = 0;
	memcpy(to, cwd, cwd_len);
	to[cwd_len] = '/';
	memcpy(to + cwd_len + 1, name, name_len);
	return cwd_len + 1 + name_len;
}

/* What an exec line tells of the file beyond its name: another path than it was called by, none any more, raised rights. */
static void put_properties(struct text *to, const struct event_exec *event, const char *file, const char *binary,
			   size_t binary_len)
{
	const struct creds *creds = &event->creds;
	bool user = (event->mode & SET_USER_ID) && creds->euid != creds->uid;
	bool group = (event->mode & SET_GROUP_ID) && creds->egid != creds->gid;
	bool other = event->links == 0 || event->file_len != binary_len || memcmp(file, binary, binary_len);
	const char *comma = "";

	if (!user && !group && !other)
		return;
	put(to, ",\"binary_properties\":{");
	if (user) {
		put(to, "\"setuid\":");
		put_number(to, creds->euid);
		comma = ",";
	}
	if (group) {
		put(to, comma);
		put(to, "\"setgid\":");
		put_number(to, creds->egid);
		comma = ",";
	}
	if (other) {
		put(to, comma);
		put(to, "\"file\":{\"inode\":{\"number\":\"");
		put_number(to, event->inode);
		put(to, "\",\"links\":");
		put_number(to, event->links);
		put(to, "},\"path\":");
		put_string(to, file, event->file_len);
		put(to, "}");
	}
	put(to, "}");
}

static struct image *image_of(const struct event_exec *event)
{
	const char *name = event->data, *file = name + event->filename_len, *cwd = file + event->file_len;
	char binary[2 * PATH_MAX_BYTES + 2], *start;
	size_t binary_len = write_binary(binary, name, event->filename_len, file, event->file_len, cwd, event->cwd_len);
	struct text *text = image_text();
	u32 text_len;

	start = text->at;
	put_image(text, cwd, event->cwd_len, binary, binary_len, cwd + event->cwd_len, event->args_len);
	text_len = text->at - start;
	put_properties(text, event, file, binary, binary_len);
	return image_make(start, text_len, start + text_len, text->at - start - text_len);
}

struct process *who_executed(const struct event_exec *event, struct creds *creds, bool *known)
{
	const struct event_head *head = &event->head;
	struct process *before = process_find(head->tgid, head->start), *process;
	struct process *parent = before ? before->parent : 0;
	struct image *image = image_of(event);
	u32 flags = FROM_EXEC;
	char docker[DOCKER_CHARS + 1];

	if (!before || (before->flags & FROM_FORK))
		flags |= FROM_FORK;
	if (before && before->flags & FROM_EXEC)
		flags &= ~FROM_FORK;
	if (event->flags & EXEC_ARGS_CUT)
		flags |= ARGS_CUT;
	if (event->flags & EXEC_NO_ARGS)
		flags |= ARGS_UNREAD;
	if (event->flags & EXEC_NO_CWD)
		flags |= CWD_UNREAD;
	if (event->cwd_len == 1)
		flags |= CWD_ROOT;
	*known = before && before->has_creds;
	if (*known)
		*creds = before->creds;
	docker_of_name(docker, event->data + event->filename_len + event->file_len + event->cwd_len + event->args_len,
		       event->cgroup_len);
	if (!docker[0] && before && before->cgroup == head->cgroup)
		strcpy(docker, before->docker);
	if (!parent)
		parent = find_or_adopt(event->ppid, event->pstart);
	process = process_add(head->tgid, head->start / TICK_NS, head->time, parent, image);
	image_drop(image);
	process->flags = flags;
	process->uid = event->creds.uid;
	process->auid = event->auid;
	process->creds = event->creds;
	process->has_creds = process->has_ns = true;
	memcpy(process->ns, event->ns, sizeof(event->ns));
	if (docker[0]) {
		process->cgroup = head->cgroup;
		strcpy(process->docker, docker);
	} else {
		follow_cgroup(process, head->cgroup);
	}
	return process;
}
