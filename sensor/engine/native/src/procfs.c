#include "procfs.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cgroups.h"

#define DEPTH_MAX 64
#define IMAGE_TEXT_BYTES (160 << 10) /* every text at its longest, each byte escaped */

static char image_bytes[IMAGE_TEXT_BYTES];
static struct text image;

struct text *image_text(void)
{
	image.at = image_bytes;
	image.end = image_bytes + sizeof(image_bytes);
	image.full = 0;
	return &image;
}

static ssize_t read_proc(u32 pid, const char *what, char *to, size_t size)
{
	char file[64];
	ssize_t len, all = 0;
	int fd;

	snprintf(file, sizeof(file), "/proc/%u/%s", pid, what);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((size_t)all < size - 1 && (len = read(fd, to + all, size - 1 - all)) > 0)
		all += len;
	close(fd);
	to[all] = 0;
	return all;
}

static ssize_t read_link(u32 pid, const char *what, char *to, size_t size)
{
	char file[64];
	ssize_t len;

	snprintf(file, sizeof(file), "/proc/%u/%s", pid, what);
	len = readlink(file, to, size - 1);
	to[len > 0 ? len : 0] = 0;
	return len;
}

static int has_space(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr(" \t\n\r\v\f", at[i]))
			return 1;
	return len == 0;
}

void put_arguments(struct text *to, const char *words, size_t len)
{
	const char *at = words, *end = words + len;
	int first = 1;

	/* A title written over the arguments leaves blanks up to the old end: those are nobody's arguments. */
	while (end > at && (end[-1] == 0 || end[-1] == ' '))
		end--;
	at += strnlen(at, end - at) + 1;
	for (; at < end; at += strnlen(at, end - at) + 1) {
		size_t size = strnlen(at, end - at);
		int quoted = has_space(at, size);

		put(to, first ? "" : " ");
		put(to, quoted ? "\\\"" : "");
		put_escaped(to, at, size);
		put(to, quoted ? "\\\"" : "");
		first = 0;
	}
}

void put_image(struct text *to, const char *cwd, size_t cwd_len, const char *binary, size_t binary_len,
	       const char *words, size_t words_len)
{
	const char *start;

	if (cwd_len > 0) {
		put(to, ",\"cwd\":");
		put_string(to, cwd, cwd_len);
	}
	put(to, ",\"binary\":");
	put_string(to, binary, binary_len);
	put(to, ",\"arguments\":\"");
	start = to->at;
	put_arguments(to, words, words_len);
	if (to->at == start)
		to->at -= strlen(",\"arguments\":\"");
	else
		put(to, "\"");
}

static u64 field(const char *status, const char *key, int which, int base)
{
	const char *at = strstr(status, key);
	char *next = at ? (char *)at + strlen(key) : 0;
	u64 value = 0;

	for (int i = 0; next && i <= which; i++)
		value = strtoull(next, &next, base);
	return value;
}

static void read_facts(struct process *process, const char *status)
{
	struct creds *creds = &process->creds;
	u32 *const uids[] = { &creds->uid, &creds->euid, &creds->suid, &creds->fsuid };
	u32 *const gids[] = { &creds->gid, &creds->egid, &creds->sgid, &creds->fsgid };
	static const char *const names[NS_KINDS] = { "ns/uts", "ns/ipc", "ns/mnt", "ns/pid", "ns/pid_for_children",
		"ns/net", "ns/time", "ns/time_for_children", "ns/cgroup", "ns/user" };
	char text[PATH_MAX];
	ssize_t len;

	for (int i = 0; i < 4; i++) {
		*uids[i] = field(status, "\nUid:", i, 10);
		*gids[i] = field(status, "\nGid:", i, 10);
	}
	process->uid = creds->uid;
	process->has_creds = true;
	creds->permitted = field(status, "\nCapPrm:", 0, 16);
	creds->effective = field(status, "\nCapEff:", 0, 16);
	creds->inheritable = field(status, "\nCapInh:", 0, 16);
	process->auid = read_proc(process->pid, "loginuid", text, sizeof(text)) > 0 ? strtoul(text, 0, 10) : ~0u;
	for (int i = 0; i < NS_KINDS; i++)
		if (read_link(process->pid, names[i], text, 64) > 0 && strchr(text, '['))
			process->ns[i] = strtoul(strchr(text, '[') + 1, 0, 10);
	process->has_ns = process->ns[NS_NET] != 0;
	len = read_proc(process->pid, "cgroup", text, sizeof(text));
	docker_of_name(process->docker, text, len > 0 ? len : 0);
}

static struct image *read_image(u32 pid, u32 *flags, const char *comm, size_t comm_len)
{
	static char words[ARGS_MAX_BYTES + 1];
	char binary[PATH_MAX], cwd[PATH_MAX];
	struct text *text = image_text();
	ssize_t words_len = read_proc(pid, "cmdline", words, sizeof(words));
	ssize_t binary_len = read_link(pid, "exe", binary, sizeof(binary));
	ssize_t cwd_len = read_link(pid, "cwd", cwd, sizeof(cwd));

	if (!strcmp(cwd, "/"))
		*flags |= CWD_ROOT;
	/* A kernel thread has neither a file nor arguments. */
	if (binary_len <= 0 && words_len <= 0)
		put_image(text, cwd, cwd_len > 0 ? cwd_len : 0, comm, comm_len, "", 0);
	else
		put_image(text, cwd, cwd_len > 0 ? cwd_len : 0, binary_len > 0 ? binary : words,
			  binary_len > 0 ? (size_t)binary_len : strlen(words), words, words_len > 0 ? words_len : 0);
	return image_make(image_bytes, text->at - image_bytes, "", 0);
}

static struct process *adopt(u32 pid, int depth)
{
	char stat[1024], status[4096], *after, *comm;
	struct process *known = process_find(pid, 0), *parent = 0, *process;
	struct image *own;
	u32 flags = FROM_PROC, ppid;
	u64 ticks = 0;

	if (read_proc(pid, "stat", stat, sizeof(stat)) <= 0 || read_proc(pid, "status", status, sizeof(status)) <= 0)
		return known;
	comm = strchr(stat, '(');
	after = strrchr(stat, ')');
	if (!comm || !after || sscanf(after, ") %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
				      &ppid, (unsigned long long *)&ticks) != 2)
		return known;
	if (known && known->start_ticks == ticks)
		return known;
	if (field(status, "\nTgid:", 0, 10) != pid)
		return 0;
	if (ppid > 0 && depth < DEPTH_MAX)
		parent = process_find(ppid, 0) ?: adopt(ppid, depth + 1);
	own = read_image(pid, &flags, comm + 1, after - comm - 1);
	process = process_add(pid, ticks, ticks * TICK_NS, parent, own);
	image_drop(own);
	process->flags = flags;
	read_facts(process, status);
	return process;
}

struct process *procfs_adopt(u32 pid)
{
	return adopt(pid, 0);
}

void procfs_adopt_all(u64 began, void (*tell)(struct process *, u64), u64 time)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		u32 pid = strtoul(entry->d_name, 0, 10);
		struct process *process = pid > 0 ? adopt(pid, 0) : 0;

		if (process && process->start_ticks * TICK_NS <= began)
			tell(process, time);
	}
	if (all)
		closedir(all);
}
