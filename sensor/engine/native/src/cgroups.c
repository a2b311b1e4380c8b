#include "cgroups.h"
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "detached-mount.h"

#define CONTAINER_ID_CHARS 64
#define REMEMBERED 1024
#define HANDLE_KERNFS 0xfe /* FILEID_KERNFS: a cgroup's number is its handle */

static char root[PATH_MAX];
static int root_fd = -1;
static struct { u64 cgroup; char docker[DOCKER_CHARS + 1]; } remembered[REMEMBERED];

const char *cgroups_init(void)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[2 * PATH_MAX], where[PATH_MAX], type[64];

	while (mounts && !root[0] && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*s %4095s %63s", where, type) == 2 && !strcmp(type, "cgroup2"))
			strcpy(root, where);
	if (mounts)
		fclose(mounts);
	root_fd = root[0] ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : detached_mount("cgroup2");
	if (root_fd < 0)
		return 0;
	if (!root[0])
		snprintf(root, sizeof(root), "/proc/self/fd/%d", root_fd);
	return root;
}

void docker_of_name(char *docker, const char *name, size_t len)
{
	size_t run = 0;

	docker[0] = 0;
	for (size_t at = 0; at <= len; at++) {
		if (at < len && (isdigit((unsigned char)name[at]) || (name[at] >= 'a' && name[at] <= 'f'))) {
			run += 1;
			continue;
		}
		if (run == CONTAINER_ID_CHARS) {
			memcpy(docker, name + at - run, DOCKER_CHARS);
			docker[DOCKER_CHARS] = 0;
			return;
		}
		run = 0;
	}
}

void docker_of_cgroup(char *docker, u64 cgroup)
{
	size_t place = cgroup % REMEMBERED;
	struct { struct file_handle head; u64 cgroup; } handle = { { sizeof(u64), HANDLE_KERNFS }, 0 };
	char link[64], path[PATH_MAX];
	ssize_t len;
	int fd;

	docker[0] = 0;
	if (root_fd < 0 || cgroup == 0)
		return;
	if (remembered[place].cgroup == cgroup) {
		strcpy(docker, remembered[place].docker);
		return;
	}
	memcpy(handle.head.f_handle, &cgroup, sizeof(cgroup));
	fd = open_by_handle_at(root_fd, &handle.head, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	close(fd);
	if (len > 0)
		docker_of_name(docker, path, len);
	remembered[place].cgroup = cgroup;
	strcpy(remembered[place].docker, docker);
}
