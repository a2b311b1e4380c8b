#include "detached-mount.h"
#include <sys/mount.h>
#include <unistd.h>

int detached_mount(const char *type)
{
	int context = fsopen(type, FSOPEN_CLOEXEC), mounted = -1;

	if (context >= 0 && !fsconfig(context, FSCONFIG_CMD_CREATE, 0, 0, 0))
		mounted = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (context >= 0)
		close(context);
	return mounted;
}
