/* Programs that not every kernel takes: each is loaded and attached by itself, on the maps of those that run, and only when it
 * is wanted, so that none keeps another from loading. */
#ifndef OPTIONAL_PROGRAMS_H
#define OPTIONAL_PROGRAMS_H

#include <stddef.h>
#include "../events.h"

struct bpf_link;
struct bpf_object;

/* The object file a program is in, and that object as it is loaded. */
struct alone_source {
	const char *name;
	const void *bytes;
	size_t size;
	struct bpf_object *loaded;
};

/* What was in the way: a sentence, and the kernel's error number behind it. */
struct alone_refusal {
	const char *what;
	int error;
};

/* The link; or nothing, the refusal, and more of it in libbpf's last words. */
struct bpf_link *alone_attach(const struct alone_source *source, const char *program, struct alone_refusal *refusal);
/* How often the kernel skipped one of them. */
u64 alone_missed(void);
/* How often it skipped one of these. */
u64 object_missed(struct bpf_object *object);

#endif
