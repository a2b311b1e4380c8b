/* The engine that sees through eBPF: a program of its own that writes Tetragon 1.7 JSON lines. Its standard input must be
 * held open by whoever starts it; at `end` there, or at SIGTERM, it detaches, writes what the kernel still holds and ends. When
 * that input ends without a word, it does so too, after the while that it may outlive whoever started it. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cgroups.h"
#include "clock.h"
#include "export.h"
#include "handover-events.h"
#include "handover.h"
#include "kernel-names.h"
#include "lines.h"
#include "losses.h"
#include "messages.h"
#include "outlive.h"
#include "policies.h"
#include "procfs.h"
#include "programs.h"
#include "unwatched.h"
#include "watched-paths.h"

#define HEARTBEAT_NS 2000000000ull
#define SIGN_NS 100000000ull
#define TICK_MS 100
#define GATHER_MS 10
#define LEAVE_STEP_MS 5
#define LEAVE_GRACE_NS 100000000ull
#define MEMORY_MAX_BYTES (192ull << 20) /* refused beyond: the engine then ends itself and is started again */
#define EXIT_REFUSED 3
#define END_WORD "end\n"
#define HOST_PID_NAMESPACE "pid:[4026531836]"

static struct options options = { .ring_kib = 4096 };
static char export_file[4096] = "events.log", node_name[256];
static double max_size_mb = 10;
static unsigned max_backups = 5;
static bool only_probe, is_beside;
static const char *bad_flag = "a flag is unknown or its value is not valid";

static int refuse(const char *what, const char *why)
{
	struct text *to = image_text();
	char *start = to->at;

	put(to, "{\"error\":");
	put_string(to, what, strlen(what));
	put(to, ",\"reason\":");
	put_string(to, why, strlen(why));
	put(to, "}\n");
	fwrite(start, 1, to->at - start, stderr);
	return EXIT_REFUSED;
}

static int refuse_programs(int error)
{
	return refuse("programs", programs_last_words()[0] ? programs_last_words() : strerror(-error));
}

static int refuse_flag(const char *why)
{
	bad_flag = why;
	return -1;
}

static int add_watched(const char *prefix, u32 how)
{
	const char *why = "more than 256 paths are watched, or one is longer than 256 bytes";

	return watch_path(&options, prefix, how) ? refuse_flag(why) : 0;
}

static int add_cgroup(const char *path, u32 mode)
{
	struct stat facts;

	if (stat(path, &facts))
		return refuse_flag("there is no such cgroup");
	if (options.cgroups_count == CGROUPS_MAX)
		return refuse_flag("there are more cgroups than 1024");
	if (options.settings.cgroup_mode && options.settings.cgroup_mode != mode)
		return refuse_flag("cgroups are either all that is told or all that is not");
	options.settings.cgroup_mode = mode;
	options.cgroups[options.cgroups_count++] = facts.st_ino;
	return 0;
}

enum flag {
	FLAG_FILE = 256, FLAG_SIZE, FLAG_BACKUPS, FLAG_NODE, FLAG_IGNORE, FLAG_WATCH, FLAG_WATCH_WRITE, FLAG_CGROUP,
	FLAG_NOT_CGROUP, FLAG_DNS_PORT, FLAG_CLOSE, FLAG_RING, FLAG_PROBE,
	FLAG_POLICIES, FLAG_BESIDE, FLAG_OUTLIVE_MS, FLAG_OUTLIVE_BYTES,
};
static const struct option FLAGS[] = {
	{ "export-filename", required_argument, 0, FLAG_FILE },
	{ "export-file-max-size-mb", required_argument, 0, FLAG_SIZE },
	{ "export-file-max-backups", required_argument, 0, FLAG_BACKUPS },
	{ "node-name", required_argument, 0, FLAG_NODE },
	{ "ignore-pid", required_argument, 0, FLAG_IGNORE },
	{ "watch-path", required_argument, 0, FLAG_WATCH },
	{ "watch-write-path", required_argument, 0, FLAG_WATCH_WRITE },
	{ "cgroup", required_argument, 0, FLAG_CGROUP },
	{ "exclude-cgroup", required_argument, 0, FLAG_NOT_CGROUP },
	{ "dns-port", required_argument, 0, FLAG_DNS_PORT },
	{ "tell-close", no_argument, 0, FLAG_CLOSE },
	{ "ring-kib", required_argument, 0, FLAG_RING },
	{ "probe", no_argument, 0, FLAG_PROBE },
	{ "policy-file", required_argument, 0, FLAG_POLICIES },
	{ "beside", no_argument, 0, FLAG_BESIDE },
	{ "outlive-ms", required_argument, 0, FLAG_OUTLIVE_MS },
	{ "outlive-bytes", required_argument, 0, FLAG_OUTLIVE_BYTES },
	{ 0 },
};

static int read_flag(int flag, const char *value)
{
	struct settings *settings = &options.settings;

	switch (flag) {
	case FLAG_FILE: snprintf(export_file, sizeof(export_file), "%s", value); return 0;
	case FLAG_SIZE: max_size_mb = atof(value); return max_size_mb > 0 ? 0 : -1;
	case FLAG_BACKUPS: max_backups = atoi(value); return 0;
	case FLAG_NODE: snprintf(node_name, sizeof(node_name), "%s", value); return 0;
	case FLAG_IGNORE:
		if (options.ignored_count == IGNORED_MAX)
			return -1;
		options.ignored[options.ignored_count++] = atoi(value);
		return 0;
	case FLAG_WATCH: return add_watched(value, WATCH_READ | WATCH_WRITE);
	case FLAG_WATCH_WRITE: return add_watched(value, WATCH_WRITE);
	case FLAG_CGROUP: return add_cgroup(value, 1);
	case FLAG_NOT_CGROUP: return add_cgroup(value, 2);
	case FLAG_DNS_PORT:
		if (settings->dns_ports == DNS_PORTS_MAX)
			return -1;
		settings->dns_port[settings->dns_ports++] = atoi(value);
		return 0;
	case FLAG_POLICIES: policies_init(value); return 0;
	case FLAG_BESIDE: is_beside = true; return 0;
	case FLAG_OUTLIVE_MS: outlive_allow_ms(strtoull(value, 0, 10)); return 0;
	case FLAG_OUTLIVE_BYTES: outlive_allow_bytes(strtoull(value, 0, 10)); return 0;
	case FLAG_PROBE: only_probe = true; return 0;
	case FLAG_CLOSE: settings->tell_close = 1; return 0;
	case FLAG_RING:
		options.ring_kib = atoi(value);
		/* The kernel takes powers of two of at least a page. */
		return options.ring_kib >= 4 && !(options.ring_kib & (options.ring_kib - 1)) ? 0 : -1;
	default: return -1;
	}
}

static int read_flags(int count, char **words)
{
	int flag;

	gethostname(node_name, sizeof(node_name) - 1);
	while ((flag = getopt_long(count, words, "", FLAGS, 0)) != -1)
		if (flag == '?' || read_flag(flag, optarg))
			return -1;
	if (options.watched_count == 0)
		watch_usual_paths(&options);
	if (options.settings.dns_ports == 0)
		options.settings.dns_port[options.settings.dns_ports++] = 53;
	options.settings.self = getpid();
	return 0;
}

static void put_policies_in_force(void)
{
	policies_reload();
	export_flush();
	policies_tell(image_text, say);
}

/* Whoever started this one is gone, and did not say that it is to end. */
static bool goes_on_alone(struct pollfd *input)
{
	input->fd = -1;
	/* Its number may be another's soon. */
	for (unsigned i = 0; i < options.ignored_count; i++)
		programs_unignore(options.ignored[i]);
	return outlive_begin();
}

/* A signal, or `end` on the standard input, or the end of that; anything else there means that the policies are others now. */
static bool is_over(struct pollfd *polled)
{
	char word[256];
	ssize_t len;

	if (polled[2].revents)
		return true;
	if (!polled[1].revents)
		return false;
	len = read(polled[1].fd, word, sizeof(word));
	if (len <= 0)
		return !goes_on_alone(&polled[1]);
	if (memmem(word, len, END_WORD, strlen(END_WORD)))
		return true;
	put_policies_in_force();
	return false;
}

/* Waits for the first record, then a little for more: one wake-up for many. */
static bool is_over_after_wait(struct pollfd *polled, bool full)
{
	polled[1].revents = polled[2].revents = 0;
	if (poll(polled, 3, full ? 0 : TICK_MS) > 0 && is_over(polled))
		return true;
	if (full || !polled[0].revents)
		return false;
	polled[1].revents = polled[2].revents = 0;
	return poll(polled + 1, 2, GATHER_MS) > 0 && is_over(polled);
}

static void run(int signals)
{
	struct pollfd polled[] = {
		{ programs_fd(), POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 }, { signals, POLLIN, 0 },
	};
	u64 heartbeat = boot_ns() + HEARTBEAT_NS, sign = 0;
	bool full = false;

	while (!is_over_after_wait(polled, full) && !outlive_is_over()) {
		u64 now;

		full = programs_take() == TAKE_MOST;
		programs_sweep(false);
		export_flush();
		policies_tidy();
		now = boot_ns();
		if (now >= sign) {
			handover_sign();
			handover_owe(losses_untold());
			sign = now + SIGN_NS;
		}
		if (now < heartbeat)
			continue;
		heartbeat = now + HEARTBEAT_NS;
		follow_wall_clock();
		tell_losses();
		policies_tell(image_text, say);
		say_alive();
	}
}

static void leave(void)
{
	const struct timespec step = { 0, LEAVE_STEP_MS * 1000000l };
	u64 told_until;

	handover_prepare_to_leave();
	told_until = programs_stop();
	told_list_until(told_until);
	policies_stop(told_until);
	/* A program that was interrupted in the middle of an event says it when it goes on. */
	for (;;) {
		bool none = programs_take() == 0;

		export_flush();
		if (none && boot_ns() >= told_until + LEAVE_GRACE_NS)
			break;
		if (none)
			nanosleep(&step, 0);
	}
	programs_sweep(true);
	tell_losses();
	handover_owe(losses_untold());
	handover_leave(told_until);
	say_alive();
}

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, 0);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void bound_resources(void)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY }, none = { 0, 0 };
	const struct rlimit memory = { MEMORY_MAX_BYTES, MEMORY_MAX_BYTES };

	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* kernels before 5.11 */
	setrlimit(RLIMIT_DATA, &memory);
	setrlimit(RLIMIT_CORE, &none);
}

static void only_know(struct process *process, u64 time)
{
	(void)process;
	(void)time;
}

/* Sees first, then waits for the one before to let go: nothing happens unseen between the two. */
static int start(void)
{
	u64 began;
	int error = export_place(export_file, max_size_mb * (1 << 20), max_backups);

	if (!error)
		error = handover_open(export_file);
	if (error)
		return refuse("export", strerror(-error));
	error = programs_start(&options, cgroups_init(), tell_event);
	if (error)
		return refuse_programs(error);
	unwatched_attached();
	began = boot_ns();
	/* In force before the engine before takes its own away. */
	policies_reload();
	if (is_beside) {
		/* Who ends before this one takes over can be asked nothing then. */
		procfs_adopt_all(began, only_know, began);
		say_attached();
	}
	error = handover_take(is_beside);
	if (error)
		return refuse("export_in_use", strerror(-error));
	error = export_open();
	if (error)
		return refuse("export", strerror(-error));
	/* The ring fills meanwhile: what began since is told from there, after those that were there. */
	procfs_adopt_all(began, tell_existing, began);
	tell_losses();
	say_hello();
	policies_tell(image_text, say);
	return 0;
}

int main(int count, char **words)
{
	char namespace[64] = "";
	int error, signals;

	if (read_flags(count, words))
		return refuse("usage", bad_flag);
	if (geteuid() != 0)
		return refuse("not_root", "loading programs needs root");
	/* The kernel names processes as the host does. */
	if (readlink("/proc/self/ns/pid", namespace, sizeof(namespace) - 1) < 0 || strcmp(namespace, HOST_PID_NAMESPACE))
		return refuse("pid_namespace", "it has to run in the host's pid namespace");
	bound_resources();
	if (only_probe) {
		error = programs_probe(&options);
		return error ? refuse_programs(error) : 0;
	}
	signals = catch_signals();
	follow_wall_clock();
	names_init();
	lines_init(node_name);
	error = start();
	if (error)
		return error;
	run(signals);
	leave();
	return 0;
}
