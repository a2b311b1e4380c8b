#include "export.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "export-head.h"
#include "handover-events.h"

#define LINE_MAX_BYTES (384 << 10)
#define BUFFER_BYTES (768 << 10)
#define STAMP_CHARS 23 /* 2006-01-02T15-04-05.000 */
#define BACKUPS_MAX 64

struct export_totals export_totals;
static char buffer[BUFFER_BYTES];
static struct text line;
static char *line_start = buffer;
static uint64_t lines_waiting, file_bytes, max_bytes;
static unsigned max_backups;
static char path[PATH_MAX], directory[PATH_MAX], name[NAME_MAX + 1], extension[NAME_MAX + 1];
static int fd = -1, torn, is_mute;

static int write_all(const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t step = write(fd, bytes, len);

		if (step < 0 && errno == EINTR)
			continue;
		if (step <= 0)
			return step < 0 ? -errno : -EIO;
		bytes += step;
		len -= step;
		file_bytes += step;
		export_totals.bytes += step;
	}
	return 0;
}

/* A file without its whole head holds nothing: it begins anew with the next lines. */
static void empty_file(void)
{
	if (!ftruncate(fd, 0))
		file_bytes = 0;
}

static int open_file(void)
{
	struct stat facts;
	char last[HEAD_MAX_BYTES];
	size_t tail;
	int opened = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (opened < 0)
		return -errno;
	if (fd >= 0)
		close(fd);
	fd = opened;
	file_bytes = fstat(fd, &facts) ? 0 : facts.st_size;
	tail = file_bytes < sizeof(last) ? file_bytes : sizeof(last);
	if (tail == 0 || pread(fd, last, tail, file_bytes - tail) != (ssize_t)tail)
		return 0;
	if (tail == file_bytes && is_torn_head(last, tail))
		empty_file();
	else if (last[tail - 1] != '\n') /* ends a line torn by a crash */
		write_all("\n", 1);
	return 0;
}

static void split_path(void)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	if (!dot || dot == base)
		dot = base + strlen(base);
	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	if (slash == path)
		strcpy(directory, "/");
	snprintf(name, sizeof(name), "%.*s", (int)(dot - base), base);
	snprintf(extension, sizeof(extension), "%s", dot);
}

int export_place(const char *file, uint64_t bytes, unsigned backups)
{
	if (strlen(file) >= sizeof(path) - NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(path, file);
	max_bytes = bytes;
	max_backups = backups < 1 ? 1 : backups > BACKUPS_MAX - 1 ? BACKUPS_MAX - 1 : backups;
	split_path();
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	return 0;
}

void export_mute(int muted)
{
	is_mute = muted;
}

/* The time in a backup's name, or nothing when the file is not one. */
static const char *stamp_of(const char *file)
{
	size_t head = strlen(name), len = strlen(file);

	if (len != head + 1 + STAMP_CHARS + strlen(extension) || strncmp(file, name, head) || file[head] != '-')
		return 0;
	if (strcmp(file + head + 1 + STAMP_CHARS, extension) || file[head + 11] != 'T')
		return 0;
	return file + head + 1;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(one, other);
}

typedef char stamp[STAMP_CHARS + 1];
static unsigned list_backups(stamp *stamps)
{
	DIR *open = opendir(directory);
	struct dirent *entry;
	unsigned found = 0;

	while (open && (entry = readdir(open))) {
		const char *at = stamp_of(entry->d_name);

		if (at && found < BACKUPS_MAX) {
			memcpy(stamps[found], at, STAMP_CHARS);
			stamps[found++][STAMP_CHARS] = 0;
		}
	}
	if (open)
		closedir(open);
	qsort(stamps, found, sizeof(stamp), by_name);
	return found;
}

static void write_stamp(char *to, uint64_t ms)
{
	time_t whole = ms / 1000;
	struct tm parts;

	gmtime_r(&whole, &parts);
	strftime(to, STAMP_CHARS + 1, "%Y-%m-%dT%H-%M-%S.", &parts);
	snprintf(to + 20, 4, "%03u", (unsigned)(ms % 1000));
}

static uint64_t read_stamp(const char *from)
{
	struct tm parts = {};
	unsigned ms;

	if (sscanf(from, "%4d-%2d-%2dT%2d-%2d-%2d.%3u", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
		   &parts.tm_min, &parts.tm_sec, &ms) != 7)
		return 0;
	parts.tm_year -= 1900;
	parts.tm_mon -= 1;
	return timegm(&parts) * 1000ull + ms;
}

static int name_backup(char *to, size_t size, const char *when)
{
	return snprintf(to, size, "%s/%s-%s%s", directory, name, when, extension) < (int)size ? 0 : -ENAMETOOLONG;
}

/* What was written up to now, as the newest file that holds something tells it. */
static struct standing newest_standing(void)
{
	struct standing found = {};
	stamp stamps[BACKUPS_MAX];
	char backup[PATH_MAX + 64];
	unsigned left = list_backups(stamps);

	if (file_bytes > 0 && read_standing(path, &found))
		return found;
	while (left-- > 0)
		if (!name_backup(backup, sizeof(backup), stamps[left]) && read_standing(backup, &found))
			return found;
	return (struct standing){};
}

int export_open(void)
{
	int error = open_file();
	struct standing newest;

	if (error)
		return error;
	newest = newest_standing();
	join_run(&newest);
	return 0;
}

static int write_head(void)
{
	char head[HEAD_MAX_BYTES];
	struct text to = { head, head + sizeof(head), 0 };
	struct standing newest = newest_standing();
	int failed;

	put_head(&to, &newest);
	failed = write_all(head, to.at - head);
	if (failed)
		empty_file();
	return failed;
}

/* What fails leaves the open file as it is; the next lines try again. */
static void rotate(void)
{
	stamp stamps[BACKUPS_MAX], fresh;
	char backup[PATH_MAX + 64];
	struct timespec now;
	unsigned found = list_backups(stamps);
	uint64_t ms, last = found ? read_stamp(stamps[found - 1]) : 0;

	clock_gettime(CLOCK_REALTIME, &now);
	ms = now.tv_sec * 1000ull + now.tv_nsec / 1000000;
	/* After every name there is, also when the clock was set back: readers take the names in their order. */
	if (ms <= last)
		ms = last + 1;
	write_stamp(fresh, ms);
	if (name_backup(backup, sizeof(backup), fresh))
		return;
	if (rename(path, backup) && errno != ENOENT)
		return;
	if (open_file())
		return;
	for (unsigned i = 0; i + max_backups < found + 1; i++)
		if (!name_backup(backup, sizeof(backup), stamps[i]))
			unlink(backup);
}

void export_flush(void)
{
	size_t len = line_start - buffer;
	int failed;

	if (len == 0) {
		/* What was told by the one before has no line here. */
		told_writing(file_bytes);
		told_written();
		return;
	}
	if (file_bytes > 0 && file_bytes + len > max_bytes)
		rotate();
	failed = file_bytes == 0 ? write_head() : 0;
	if (!failed && torn)
		failed = write_all("\n", 1);
	if (!failed) {
		told_writing(file_bytes + len);
		failed = write_all(buffer, len);
	}
	if (failed) {
		/* A full disk loses lines, not the engine; the first of a row is told. */
		export_totals.lost += lines_waiting;
		if (!torn)
			fprintf(stderr, "{\"error\":\"export_write_failed\",\"reason\":\"%s\"}\n", strerror(-failed));
	} else {
		export_totals.written += lines_waiting;
	}
	told_written();
	torn = failed != 0;
	lines_waiting = 0;
	line_start = buffer;
}

struct text *export_line(void)
{
	if (buffer + sizeof(buffer) - line_start < LINE_MAX_BYTES)
		export_flush();
	line.at = line_start;
	line.end = buffer + sizeof(buffer);
	line.full = 0;
	return &line;
}

void export_end_line(void)
{
	put(&line, "\n");
	if (is_mute)
		return;
	if (line.full) {
		export_totals.lost += 1;
		return;
	}
	line_start = line.at;
	lines_waiting += 1;
}
