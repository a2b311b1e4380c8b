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
#include <unistd.h>
#include "clock.h"
#include "told.h"

#define MAGIC 0x31726576646e6168ull
#define BOOT_ID_CHARS 36
#define WAIT_STEP_MS 20
#define PATIENCE_MS 3000
#define MOST_MS 8000
#define RECENT 8

/* In a file that is mapped shared: it outlives a kill. */
struct page {
	u64 magic;
	char boot_id[40];
	u64 told_until; /* 0 while it runs */
	u64 sign_time;
	u64 last_pid; /* the number the kernel gave last, to a process or a thread */
	struct told told;
};

/* An older build that starts beside this one cuts the file to its own, shorter page. Within one page of memory that takes
 * nothing from under the mapping; beyond it the next touch would end this engine. */
_Static_assert(sizeof(struct page) <= 4096, "the shared page is longer than one page of memory");

static struct page *page;
static int lock = -1;
static u64 unseen, gap_ms;

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

/* A lock that the kernel drops before it begins with the slow detaching of programs, also of one that was killed. */
static int try_lock(short type)
{
	struct flock whole = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(lock, F_SETLK, &whole) ? -errno : 0;
}

/* Ends the holder, when it is the same program: one that hangs would keep the export for ever. */
static void end_holder(void)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char link[64], own[PATH_MAX], other[PATH_MAX];
	const char *own_name, *other_name;

	if (fcntl(lock, F_GETLK, &whole) || whole.l_type == F_UNLCK || whole.l_pid <= 1)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)whole.l_pid);
	own[read_link("/proc/self/exe", own, sizeof(own))] = 0;
	other[read_link(link, other, sizeof(other))] = 0;
	own_name = strrchr(own, '/');
	other_name = strrchr(other, '/');
	/* The file may have been replaced since: its name then ends in " (deleted)". */
	if (own_name && other_name && !strncmp(own_name, other_name, strlen(own_name)))
		kill(whole.l_pid, SIGKILL);
}

static int wait_for_lock(bool is_awaited)
{
	struct pollfd input = { STDIN_FILENO, 0, 0 };

	for (unsigned waited = 0; waited < MOST_MS; waited += WAIT_STEP_MS) {
		int error = try_lock(F_WRLCK);

		if (error != -EAGAIN && error != -EACCES && error != -EINTR)
			return error;
		if (waited == PATIENCE_MS && !is_awaited)
			end_holder();
		/* Whoever awaits this one has thought better of it. */
		if (poll(is_awaited ? &input : 0, is_awaited, WAIT_STEP_MS) > 0)
			return -ECANCELED;
	}
	return -EBUSY;
}

/* What the one before left, when it ran since this machine started. */
static void read_legacy(const char *boot_id, u64 attached)
{
	u64 now, most;

	if (page->magic != MAGIC || strncmp(page->boot_id, boot_id, BOOT_ID_CHARS))
		return;
	if (page->told_until) {
		told_take(page->told_until, &page->told);
		return;
	}
	if (!page->sign_time || page->sign_time > attached)
		return;
	gap_ms = (attached - page->sign_time) / 1000000;
	now = last_pid();
	most = pid_max();
	unseen = now >= page->last_pid ? now - page->last_pid : now + (most > page->last_pid ? most - page->last_pid : 0);
}

int handover_open(const char *export_file)
{
	char file[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s.lock", export_file) >= (int)sizeof(file))
		return -ENAMETOOLONG;
	lock = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0 || ftruncate(lock, sizeof(*page)))
		return -errno;
	page = mmap(0, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, lock, 0);
	return page == MAP_FAILED ? -errno : 0;
}

int handover_take(u64 attached, bool is_awaited)
{
	char boot_id[64];
	int error = wait_for_lock(is_awaited);

	if (error)
		return error;
	read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	read_legacy(boot_id, attached);
	memset(page, 0, sizeof(*page));
	memcpy(page->boot_id, boot_id, BOOT_ID_CHARS);
	handover_sign();
	page->magic = MAGIC;
	return 0;
}

u64 handover_unseen(void)
{
	return unseen;
}

u64 handover_gap_ms(void)
{
	return gap_ms;
}

/* What began shortly before may not have been told whole yet: the number of a while ago is what is kept. */
void handover_sign(void)
{
	static u64 recent[RECENT];
	static unsigned signs;

	recent[signs++ % RECENT] = last_pid();
	page->last_pid = recent[signs < RECENT ? 0 : signs % RECENT];
	page->sign_time = boot_ns();
}

void handover_leave(u64 until)
{
	told_give(&page->told);
	page->told_until = until;
	try_lock(F_UNLCK);
}
