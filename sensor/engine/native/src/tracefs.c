#include "tracefs.h"
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "detached-mount.h"

#define PATH_CHARS 512

/* Ours; where the kernel does not let us have one, that of the machine. */
static int root(void)
{
	static const char *const mounted[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	static int opened = -1;

	if (opened < 0)
		opened = detached_mount("tracefs");
	for (int i = 0; i < 2 && opened < 0; i++) {
		opened = open(mounted[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (opened < 0 || faccessat(opened, "events", F_OK, 0) == 0)
			continue;
		close(opened);
		opened = -1;
		errno = ENOENT;
	}
	return opened;
}

FILE *tracefs_open(const char *event, const char *file)
{
	char path[PATH_CHARS];
	int directory = root(), opened;

	if (directory < 0)
		return 0;
	if (snprintf(path, sizeof(path), "events/%s/%s", event, file) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return 0;
	}
	opened = openat(directory, path, O_RDONLY | O_CLOEXEC);
	return opened < 0 ? 0 : fdopen(opened, "r");
}

static long id_of(const char *event)
{
	FILE *file = tracefs_open(event, "id");
	long id = -1;

	if (file && fscanf(file, "%ld", &id) != 1)
		errno = EINVAL;
	if (file)
		fclose(file);
	return id;
}

bool tracefs_has(const char *event)
{
	return id_of(event) >= 0;
}

struct bpf_link *tracefs_attach(const struct bpf_program *program, const char *event, u64 cookie)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie);
	struct perf_event_attr attributes = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attributes) };
	long id = id_of(event);
	struct bpf_link *link;
	int opened;

	if (id < 0)
		return 0;
	attributes.config = id;
	opened = syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (opened < 0)
		return 0;
	link = bpf_program__attach_perf_event_opts(program, opened, &options);
	if (!link) {
		int error = errno;

		close(opened);
		errno = error;
	}
	return link;
}
