#include "export-head.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"

#define KEY "{\"export_info\":"
#define KEY_CHARS (sizeof(KEY) - 1)
#define BOOT_ID_CHARS 36
#define CHUNK_BYTES (64 << 10)

/* The run, and the lines before the newest file that is known. */
static struct standing own;

struct lines {
	uint64_t whole;
	size_t len, kept;
	char first[KEY_CHARS];
};

static void end_line(struct lines *in)
{
	if (in->len > 0 && (in->kept < KEY_CHARS || memcmp(in->first, KEY, KEY_CHARS)))
		in->whole += 1;
	in->len = in->kept = 0;
}

static void take(struct lines *in, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t part = end ? (size_t)(end - bytes) : len;
		size_t fit = part < KEY_CHARS - in->kept ? part : KEY_CHARS - in->kept;

		memcpy(in->first + in->kept, bytes, fit);
		in->kept += fit;
		in->len += part;
		if (!end)
			return;
		end_line(in);
		bytes = end + 1;
		len -= part + 1;
	}
}

static void parse_head(char *bytes, size_t len, struct standing *to)
{
	struct standing found = {};

	bytes[len] = 0;
	if (sscanf(bytes, KEY "{\"lines_before\":\"%16" SCNu64 "\",\"run\":\"%80[^\"\\]\",\"lines_before_run\":\"%16" SCNu64,
		   &found.lines, found.run, &found.lines_before_run) == 3)
		*to = found;
}

int read_standing(const char *file, struct standing *to)
{
	static char chunk[CHUNK_BYTES + 1];
	struct lines in = {};
	int fd = open(file, O_RDONLY | O_CLOEXEC), found = 0;
	ssize_t len;

	if (fd < 0)
		return 0;
	memset(to, 0, sizeof(*to));
	while ((len = read(fd, chunk, CHUNK_BYTES)) > 0) {
		if (!found)
			parse_head(chunk, len, to);
		take(&in, chunk, len);
		found = 1;
	}
	close(fd);
	end_line(&in);
	to->lines += in.whole;
	return found;
}

static const char *boot_id(void)
{
	static char boot[BOOT_ID_CHARS + 1];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, boot, BOOT_ID_CHARS) != BOOT_ID_CHARS)
		strcpy(boot, "unknown");
	if (fd >= 0)
		close(fd);
	return boot;
}

static void begin_run(uint64_t lines)
{
	char when[48] = "";
	struct text time = { when, when + sizeof(when) - 1, 0 };

	own.lines_before_run = lines;
	follow_wall_clock();
	/* Without its quotes. */
	put_time(&time, boot_ns());
	snprintf(own.run, sizeof(own.run), "%s %.*s", boot_id(), (int)(strlen(when) - 2), when + 1);
}

void join_run(const struct standing *newest)
{
	const char *boot = boot_id();
	size_t len = strlen(boot);

	own = *newest;
	if (strncmp(own.run, boot, len) || own.run[len] != ' ')
		begin_run(own.lines);
}

void put_head(struct text *to, const struct standing *newest)
{
	/* Somebody removed what was told before: less stands there now. */
	if (newest->lines < own.lines)
		begin_run(newest->lines);
	own.lines = newest->lines;
	put(to, KEY "{\"lines_before\":\"");
	put_number(to, own.lines);
	put(to, "\",\"run\":\"");
	put(to, own.run);
	put(to, "\",\"lines_before_run\":\"");
	put_number(to, own.lines_before_run);
	put(to, "\"},\"time\":");
	put_time(to, boot_ns());
	put(to, "}\n");
}

int is_torn_head(const char *bytes, size_t len)
{
	if (len > HEAD_MAX_BYTES || memchr(bytes, '\n', len))
		return 0;
	return !memcmp(bytes, KEY, len < KEY_CHARS ? len : KEY_CHARS);
}
