/* File systems of the kernel on machines where nobody has mounted them: a mount of this engine's own that lies in no
 * directory, so that nothing on the machine changes and nothing is left behind. */
#ifndef DETACHED_MOUNT_H
#define DETACHED_MOUNT_H

/* The root of a new mount of this type (Linux 5.2), to open files from; -1 with errno. */
int detached_mount(const char *type);

#endif
