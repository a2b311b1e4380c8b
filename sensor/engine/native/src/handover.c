#include "handover.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "handover-events.h"
#include "unwatched.h"

#define MAGIC 0x31726576646e6168ull
#define BOOT_ID_CHARS 36
#define WAIT_STEP_MS 20
#define PATIENCE_MS 3000
#define MOST_MS 8000

/* In a file that is mapped shared: it outlives a kill. */
struct page {
	u64 magic;
	char boot_id[40];
	u64 told_until; /* 0 while it runs */
	u64 sign_time;
	u64 last_pid; /* as in the sign, for older builds */
	struct told told;
	struct watch_sign sign;
	struct told_live live; /* absent where an older build left the page */
};

/* An older build that starts beside this one cuts the file to its own, shorter page. Within one page of memory that takes
 * nothing from under the mapping; beyond it the next touch would end this engine. */
_Static_assert(sizeof(struct page) <= 4096, "the shared page is longer than one page of memory");

static struct page *page;
static int lock = -1;
static char export_path[PATH_MAX];

static ssize_t read_file(const char *file, char *to, size_t size)
{
	int opened = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t len = opened < 0 ? -1 : read(opened, to, size - 1);

	if (opened >= 0)
		close(opened);
	to[len > 0 ? len : 0] = 0;
	return len;
}

static size_t read_link(const char *file, char *to, size_t size)
{
	ssize_t len = readlink(file, to, size - 1);

	return len > 0 ? len : 0;
}

/* A lock that the kernel drops before it begins with the slow detaching of programs, also of one that was killed. */
static int try_lock(short type)
{
	struct flock whole = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(lock, F_SETLK, &whole) ? -errno : 0;
}

static pid_t holder_of_lock(void)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(lock, F_GETLK, &whole) || whole.l_type == F_UNLCK || whole.l_pid <= 1 ? 0 : whole.l_pid;
}

static bool is_this_program(pid_t pid)
{
	char link[64], own[PATH_MAX], other[PATH_MAX];
	const char *own_name, *other_name;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	own[read_link("/proc/self/exe", own, sizeof(own))] = 0;
	other[read_link(link, other, sizeof(other))] = 0;
	own_name = strrchr(own, '/');
	other_name = strrchr(other, '/');
	/* The file may have been replaced since: its name then ends in " (deleted)". */
	return own_name && other_name && !strncmp(own_name, other_name, strlen(own_name));
}

/* Asks the holder to end or, when it hangs and would keep the export for ever, ends it; only one that is the same program.
 * It holds the lock after it is pinned as it did before: no other process has got its number meanwhile. */
static void signal_holder(int signal)
{
	pid_t holder = holder_of_lock();
	int pinned = holder ? syscall(SYS_pidfd_open, holder, 0) : -1;

	if (pinned >= 0 && is_this_program(holder) && holder_of_lock() == holder)
		syscall(SYS_pidfd_send_signal, pinned, signal, 0, 0);
	if (pinned >= 0)
		close(pinned);
}

static bool has_lost_its_starter(void)
{
	struct pollfd input = { STDIN_FILENO, 0, 0 };

	return poll(&input, 1, 0) > 0 && input.revents & POLLHUP;
}

/* One whose Sensor has died goes on until somebody takes over. Of several that want to, the last one that was started is to:
 * one whose own Sensor has died meanwhile makes way. False = it does. */
static bool ask_holder(unsigned waited)
{
	static pid_t asked;
	static unsigned asked_at;
	pid_t holder = holder_of_lock();

	if (holder && holder != asked) {
		if (asked && has_lost_its_starter())
			return false;
		asked = holder;
		asked_at = waited;
		signal_holder(SIGTERM);
	}
	if (holder && waited - asked_at == PATIENCE_MS)
		signal_holder(SIGKILL);
	return true;
}

static int wait_for_lock(bool is_awaited)
{
	struct pollfd input = { STDIN_FILENO, 0, 0 };

	for (unsigned waited = 0; waited < MOST_MS; waited += WAIT_STEP_MS) {
		int error = try_lock(F_WRLCK);

		if (error != -EAGAIN && error != -EACCES && error != -EINTR)
			return error;
		if (!is_awaited && !ask_holder(waited))
			return -ECANCELED;
		/* Whoever awaits this one has thought better of it. */
		if (poll(is_awaited ? &input : 0, is_awaited, WAIT_STEP_MS) > 0)
			return -ECANCELED;
	}
	return -EBUSY;
}

static u64 export_size(void)
{
	struct stat facts;

	return stat(export_path, &facts) ? 0 : facts.st_size;
}

/* What the one before left, however it ended. */
static void read_legacy(const char *boot_id)
{
	struct watch_sign sign = page->sign;

	if (page->magic != MAGIC)
		return;
	sign.last_pid = page->last_pid;
	unwatched_owe(page->told.untold);
	if (strncmp(page->boot_id, boot_id, BOOT_ID_CHARS)) {
		unwatched_count(&sign, WATCH_REBOOTED, 0);
	} else if (page->told_until) {
		told_take(page->told_until, &page->told);
		unwatched_count(&sign, WATCH_STOPPED, page->told_until);
	} else if (page->sign_time) {
		told_take_live(&page->told, &page->live, export_size());
		unwatched_count(&sign, WATCH_KILLED, page->sign_time);
	}
}

int handover_open(const char *export_file)
{
	char file[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s.lock", export_file) >= (int)sizeof(file))
		return -ENAMETOOLONG;
	snprintf(export_path, sizeof(export_path), "%s", export_file);
	lock = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0 || ftruncate(lock, sizeof(*page)))
		return -errno;
	page = mmap(0, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, lock, 0);
	return page == MAP_FAILED ? -errno : 0;
}

int handover_take(bool is_awaited)
{
	char boot_id[64];
	int error = wait_for_lock(is_awaited);

	if (error)
		return error;
	read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	read_legacy(boot_id);
	memset(page, 0, sizeof(*page));
	memcpy(page->boot_id, boot_id, BOOT_ID_CHARS);
	handover_sign();
	told_keep(&page->told, &page->live);
	handover_owe(unwatched_begun());
	page->magic = MAGIC;
	return 0;
}

void handover_sign(void)
{
	unwatched_sign(&page->sign);
	page->last_pid = page->sign.last_pid;
	page->sign_time = page->sign.boot;
}

void handover_owe(u64 losses)
{
	page->told.untold = losses < UINT32_MAX ? losses : UINT32_MAX;
}

void handover_prepare_to_leave(void)
{
	unwatched_leave(&page->sign);
	page->last_pid = page->sign.last_pid;
}

void handover_leave(u64 until)
{
	told_give(&page->told);
	page->told_until = until;
	try_lock(F_UNLCK);
}
