#include "watched-paths.h"
#include <string.h>

static const char *const WATCHED[] = {
	"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_", "/root/.ssh/", "/run/secrets/kubernetes.io/",
	"/var/lib/kubelet/pki/", "/etc/kubernetes/", "/dev/mem", "/dev/kmem", "/proc/kcore", 0,
};
static const char *const WATCHED_WRITES[] = {
	"/etc/passwd", "/etc/group", "/etc/ld.so.preload", "/etc/cron", "/var/spool/cron", "/etc/systemd/", "/etc/pam.d/",
	"/usr/bin/", "/usr/sbin/", "/usr/lib/systemd/", "/boot/", "/sys/kernel/security/", 0,
};

int watch_path(struct options *options, const char *prefix, u32 how)
{
	if (options->watched_count == WATCHED_MAX || strlen(prefix) > WATCH_PREFIX_BYTES)
		return -1;
	options->watched[options->watched_count].prefix = prefix;
	options->watched[options->watched_count++].how = how;
	return 0;
}

void watch_usual_paths(struct options *options)
{
	for (int i = 0; WATCHED[i]; i++)
		watch_path(options, WATCHED[i], WATCH_READ | WATCH_WRITE);
	for (int i = 0; WATCHED_WRITES[i]; i++)
		watch_path(options, WATCHED_WRITES[i], WATCH_WRITE);
}
