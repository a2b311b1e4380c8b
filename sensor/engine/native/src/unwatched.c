#include "unwatched.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"

#define MAGIC 0x646568637461776eull
#define RECENT 8
#define FORKS_EVERY 10 /* signs: what tells them sums up over every interrupt of the machine */
#define STAT_BYTES (1 << 20)
#define NS_PER_MS 1000000ull
#define START_FIELD 22 /* of /proc/PID/stat */
#define THREADS_FIELD 20

static struct { u64 forks, last_pid, boot; } attached;
static u64 begun, owed, since, until;
static enum watch_end ended;

static ssize_t read_file(const char *file, char *to, size_t size)
{
	int opened = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0, more;

	while (opened >= 0 && (size_t)len < size - 1 && (more = read(opened, to + len, size - 1 - len)) > 0)
		len += more;
	if (opened >= 0)
		close(opened);
	to[len] = 0;
	return len;
}

static u64 last_pid(void)
{
	char text[128];
	const char *at = read_file("/proc/loadavg", text, sizeof(text)) > 0 ? strrchr(text, ' ') : 0;

	return at ? strtoull(at, 0, 10) : 0;
}

static u64 pid_max(void)
{
	char text[32];

	return read_file("/proc/sys/kernel/pid_max", text, sizeof(text)) > 0 ? strtoull(text, 0, 10) : 32768;
}

static u64 forks(void)
{
	static char text[STAT_BYTES];
	const char *at = read_file("/proc/stat", text, sizeof(text)) > 0 ? strstr(text, "\nprocesses ") : 0;

	return at ? strtoull(at + strlen("\nprocesses "), 0, 10) : 0;
}

static void stamp(struct watch_sign *sign)
{
	sign->boot = boot_ns();
	sign->wall = wall_ns();
	sign->magic = MAGIC;
}

/* What began shortly before may not have been told whole yet: the numbers of a while ago are what is kept. */
void unwatched_sign(struct watch_sign *sign)
{
	static u64 recent[RECENT], forks_before;
	static unsigned signs;

	if (signs % FORKS_EVERY == 0) {
		sign->forks = forks_before ? forks_before : attached.forks;
		forks_before = forks();
	}
	recent[signs++ % RECENT] = last_pid();
	sign->last_pid = signs < RECENT ? attached.last_pid : recent[signs % RECENT];
	stamp(sign);
}

void unwatched_leave(struct watch_sign *sign)
{
	sign->forks = forks();
	sign->last_pid = last_pid();
	stamp(sign);
}

void unwatched_attached(void)
{
	attached.boot = boot_ns();
	attached.forks = forks();
	attached.last_pid = last_pid();
}

/* Of a process that began in the gap and still is there: its threads began there, too, and are no processes. */
static u64 threads_of(const char *pid, u64 from_ticks)
{
	char file[64], text[1024], *at;
	u64 threads = 0, start = 0;

	snprintf(file, sizeof(file), "/proc/%.16s/stat", pid);
	at = read_file(file, text, sizeof(text)) > 0 ? strrchr(text, ')') : 0;
	for (int field = 2; at && field < START_FIELD; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 == THREADS_FIELD)
			threads = strtoull(at + 1, 0, 10);
		if (at && field + 1 == START_FIELD)
			start = strtoull(at + 1, 0, 10);
	}
	return at && start > from_ticks && threads > 1 ? threads - 1 : 0;
}

static u64 living_threads(u64 from)
{
	u64 ticks = from / (1000000000ull / sysconf(_SC_CLK_TCK)), threads = 0;
	DIR *all = opendir("/proc");
	struct dirent *one;

	while (all && (one = readdir(all)))
		if (one->d_name[0] >= '1' && one->d_name[0] <= '9')
			threads += threads_of(one->d_name, ticks);
	if (all)
		closedir(all);
	return threads;
}

/* The numbers tell what began more closely, as long as they cannot have gone round. */
static u64 begun_since(const struct watch_sign *sign)
{
	u64 most = pid_max(), now = attached.last_pid, before = sign->last_pid;
	u64 numbers = now >= before ? now - before : now + (most > before ? most - before : 0);
	bool has_forks = sign->magic == MAGIC && sign->forks && attached.forks >= sign->forks;
	u64 forked = has_forks ? attached.forks - sign->forks : numbers;

	return forked < most / 2 && numbers < forked ? numbers : forked;
}

void unwatched_count(const struct watch_sign *sign, enum watch_end how, u64 from)
{
	u64 threads;

	ended = how;
	if (how != WATCH_REBOOTED && from >= attached.boot)
		ended = WATCH_GOES_ON;
	if (ended < WATCH_KILLED)
		return;
	until = attached.boot;
	since = how != WATCH_REBOOTED ? from : sign->magic == MAGIC ? boot_of_wall(sign->wall) : 0;
	begun = how == WATCH_REBOOTED ? attached.forks : begun_since(sign);
	threads = living_threads(how == WATCH_REBOOTED ? 0 : from);
	begun -= threads < begun ? threads : begun;
}

void unwatched_owe(u64 losses)
{
	owed = losses;
}

u64 unwatched_begun(void)
{
	return begun + owed;
}

u64 unwatched_ms(void)
{
	/* By a calendar that was set back meanwhile it would be less than nothing. */
	return ended >= WATCH_KILLED && (int64_t)(until - since) > 0 ? (until - since) / NS_PER_MS : 0;
}

void put_unwatched(struct text *to)
{
	static const char *const words[] = {
		[WATCH_KILLED] = "killed", [WATCH_STOPPED] = "stopped", [WATCH_REBOOTED] = "rebooted",
	};

	if (ended < WATCH_KILLED)
		return;
	put(to, ",\"unwatched\":{\"since\":");
	put_time(to, since);
	put(to, ",\"until\":");
	put_time(to, until);
	put(to, ",\"how\":\"");
	put(to, words[ended]);
	put(to, "\"}");
}
