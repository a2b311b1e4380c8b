#include "optional-programs.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#define OBJECTS_MAX 16 /* no more programs are loaded so */

/* One that was attached stays loaded, for when it is wanted again, and for its count. */
static struct { const char *source, *program; struct bpf_object *object; } loaded[OBJECTS_MAX];
static unsigned loaded_count;

static int share_maps(struct bpf_object *object, struct bpf_object *with)
{
	struct bpf_map *map;
	int error = 0;

	bpf_object__for_each_map(map, object) {
		int own = bpf_object__find_map_fd_by_name(with, bpf_map__name(map));

		if (!error)
			error = own < 0 ? own : bpf_map__reuse_fd(map, own);
	}
	return error;
}

static struct bpf_object *load(const struct alone_source *source, const char *name, int *error)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = source->name);
	struct bpf_object *object = bpf_object__open_mem(source->bytes, source->size, &options);
	struct bpf_program *program;

	if (!object) {
		*error = errno;
		return 0;
	}
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	*error = -share_maps(object, source->loaded);
	if (!*error)
		*error = -bpf_object__load(object);
	if (!*error)
		return object;
	bpf_object__close(object);
	return 0;
}

static struct bpf_object *find(const char *source, const char *program)
{
	for (unsigned i = 0; i < loaded_count; i++)
		if (!strcmp(loaded[i].source, source) && !strcmp(loaded[i].program, program))
			return loaded[i].object;
	return 0;
}

struct bpf_link *alone_attach(const struct alone_source *source, const char *program, struct alone_refusal *refusal)
{
	struct bpf_object *known = find(source->name, program), *object = known;
	struct bpf_link *link;

	refusal->what = "the kernel refuses the program";
	refusal->error = ENOMEM;
	if (!object && loaded_count < OBJECTS_MAX)
		object = load(source, program, &refusal->error);
	if (!object)
		return 0;
	link = bpf_program__attach(bpf_object__find_program_by_name(object, program));
	if (!link) {
		refusal->what = "it cannot be attached";
		refusal->error = errno;
	}
	if (known)
		return link;
	if (!link) {
		bpf_object__close(object);
		return 0;
	}
	loaded[loaded_count].source = source->name;
	loaded[loaded_count].program = program;
	loaded[loaded_count++].object = object;
	return link;
}

u64 object_missed(struct bpf_object *object)
{
	struct bpf_program *program;
	u64 missed = 0;

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {};
		u32 size = sizeof(info);

		if (bpf_program__fd(program) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

u64 alone_missed(void)
{
	u64 missed = 0;

	for (unsigned i = 0; i < loaded_count; i++)
		missed += object_missed(loaded[i].object);
	return missed;
}
