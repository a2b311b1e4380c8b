#include "watched.h"

static const char *const WATCHED[] = {
	"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_", "/root/.ssh/", "/run/secrets/kubernetes.io/",
	"/var/lib/kubelet/pki/", "/etc/kubernetes/", "/dev/mem", "/dev/kmem", "/proc/kcore", 0,
};
static const char *const WATCHED_WRITES[] = {
	"/etc/passwd", "/etc/group", "/etc/ld.so.preload", "/etc/cron", "/var/spool/cron", "/etc/systemd/", "/etc/pam.d/",
	"/usr/bin/", "/usr/sbin/", "/usr/lib/systemd/", "/boot/", "/sys/kernel/security/", 0,
};

void watch_path(struct options *options, const char *prefix, u32 how)
{
	unsigned most = sizeof(options->watched) / sizeof(options->watched[0]);

	if (options->watched_count == most)
		return;
	options->watched[options->watched_count].prefix = prefix;
	options->watched[options->watched_count++].how = how;
}

void watch_usual_paths(struct options *options)
{
	for (int i = 0; WATCHED[i]; i++)
		watch_path(options, WATCHED[i], WATCH_READ | WATCH_WRITE);
	for (int i = 0; WATCHED_WRITES[i]; i++)
		watch_path(options, WATCHED_WRITES[i], WATCH_WRITE);
}
