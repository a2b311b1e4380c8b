#include "programs.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "handover-events.h"
#include "hooks.h"
#include "optional-programs.h"
#include "tracefs.h"
#include "engine.skel.h"

#define CONNECT_WAIT_NS 200000000ull
#define SWEEP_MAX 256
/* What is listed for the next engine lies wholly ahead when this one decides to leave: no record of it was taken before. */
#define STOP_AHEAD_NS 25000000ull
_Static_assert(STOP_AHEAD_NS > 2 * TOLD_APART_NS, "the list of what was told last begins before it is kept");
#define LINKS_MAX 64

static struct engine_bpf *engine;
static struct ring_buffer *ring;
static struct bpf_link *links[LINKS_MAX];
static struct disabled disabled[LINKS_MAX];
static unsigned links_count, disabled_count, taken;
static tell_record *tell_one;
static u64 stopped_at = ~0ull;
static char last_words[256];

const struct disabled *programs_disabled(unsigned *count)
{
	*count = disabled_count;
	return disabled;
}

unsigned programs_attached(void)
{
	return links_count;
}

static struct disabled *disable(const char *hook, const char *what, int error, const char *more)
{
	static struct disabled one_too_many;
	struct disabled *one = disabled_count < LINKS_MAX ? &disabled[disabled_count++] : &one_too_many;

	one->hook = hook;
	snprintf(one->reason, sizeof(one->reason), "%s%s%s%s%s", what, error ? ": " : "", error ? strerror(error) : "",
		 more[0] ? ": " : "", more);
	return one;
}

/* One that each kernel this engine runs on is to attach; of those that are tried one after the other none is. */
static void miss(const struct hook *hook, const char *what, int error)
{
	disable(hook->name, what, error, error ? last_words : "")->is_missing = hook->how != HOOK_ALONE;
}

/* What libbpf warns of says more than its error number. */
static int remember_words(enum libbpf_print_level level, const char *format, va_list args)
{
	/* The first says most. */
	if (level == LIBBPF_WARN && !last_words[0] && !strstr(format, "BEGIN PROG LOAD LOG"))
		vsnprintf(last_words, sizeof(last_words), format, args);
	last_words[strcspn(last_words, "\n")] = 0;
	return 0;
}

static struct engine_bpf *open_with(const struct options *options)
{
	struct engine_bpf *opened = engine_bpf__open();

	if (!opened)
		return 0;
	memcpy((void *)&opened->rodata->settings, &options->settings, sizeof(options->settings));
	bpf_map__set_max_entries(opened->maps.ring, options->ring_kib << 10);
	if (!options->settings.tell_close)
		bpf_map__set_max_entries(opened->maps.owners, 1);
	return opened;
}

/* Whether this program alone loads; the reason is left in `last_words`. */
static int try_alone(const struct options *options, const char *name)
{
	struct engine_bpf *alone = open_with(options);
	struct bpf_program *program;
	int error;

	if (!alone)
		return -errno;
	bpf_object__for_each_program(program, alone->obj)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	bpf_map__set_max_entries(alone->maps.ring, 4096);
	last_words[0] = 0;
	error = engine_bpf__load(alone);
	engine_bpf__destroy(alone);
	return error;
}

static bool is_used(const char *program)
{
	for (const struct hook *hook = HOOKS; hook->program; hook++)
		if (!strcmp(hook->program, program) && hook_is_wanted(hook) && hook->how != HOOK_ALONE)
			return true;
	return false;
}

/* All at once; where that is refused, each program by itself decides, and those that load go together. */
static int load(const struct options *options)
{
	struct bpf_program *program;
	int error;

	engine = open_with(options);
	if (!engine)
		return -errno;
	bpf_object__for_each_program(program, engine->obj)
		bpf_program__set_autoload(program, is_used(bpf_program__name(program)));
	error = engine_bpf__load(engine);
	if (!error)
		return 0;
	engine_bpf__destroy(engine);
	engine = open_with(options);
	if (!engine)
		return -errno;
	bpf_object__for_each_program(program, engine->obj) {
		const char *name = bpf_program__name(program);
		int refused = is_used(name) ? try_alone(options, name) : 0;

		bpf_program__set_autoload(program, is_used(name) && !refused);
		for (const struct hook *hook = HOOKS; refused && hook->program; hook++)
			if (!strcmp(hook->program, name) && hook_is_wanted(hook))
				miss(hook, "the kernel refuses the program", -refused);
	}
	error = engine_bpf__load(engine);
	if (!error && bpf_program__fd(engine->progs.on_exec) < 0)
		return -ENOTSUP;
	return error;
}

int programs_probe(const struct options *options)
{
	int error;

	libbpf_set_print(remember_words);
	hooks_probe();
	error = load(options);
	engine_bpf__destroy(engine);
	return error;
}

const char *programs_last_words(void)
{
	return last_words;
}

static struct bpf_link *attach(const struct hook *hook, struct bpf_program *program, int cgroup_fd)
{
	switch (hook->how) {
	case HOOK_RAW: return bpf_program__attach_raw_tracepoint(program, hook->event);
	case HOOK_TRACEPOINT: return tracefs_attach(program, hook->event, 0);
	default: return bpf_program__attach_cgroup(program, cgroup_fd);
	}
}

static struct bpf_link *attach_loaded(const struct hook *hook, struct bpf_program *program, int cgroup_fd)
{
	struct bpf_link *link = attach(hook, program, cgroup_fd);

	if (!link)
		miss(hook, "it cannot be attached", errno);
	return link;
}

static struct bpf_link *attach_alone(const struct hook *hook)
{
	struct alone_source source = { .name = "engine_bpf", .loaded = engine->obj };
	struct alone_refusal refusal;
	struct bpf_link *link;

	source.bytes = engine_bpf__elf_bytes(&source.size);
	link = alone_attach(&source, hook->program, &refusal);
	if (!link)
		disable(hook->name, refusal.what, refusal.error, last_words);
	return link;
}

static void attach_all(const char *cgroup_root)
{
	int cgroup_fd = cgroup_root ? open(cgroup_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	for (const struct hook *hook = HOOKS; hook->program; hook++) {
		struct bpf_program *program = bpf_object__find_program_by_name(engine->obj, hook->program);
		struct bpf_link *link;

		if (!hook_is_wanted(hook)) {
			if (hook_reason(hook))
				disable(hook->name, hook_reason(hook), 0, "");
			continue;
		}
		if (hook_is_covered(hook))
			continue;
		if (hook->how != HOOK_ALONE && (!program || bpf_program__fd(program) < 0))
			continue; /* said already */
		if (hook->how == HOOK_CGROUP && cgroup_fd < 0) {
			miss(hook, "no unified cgroup hierarchy is mounted", 0);
			continue;
		}
		last_words[0] = 0;
		link = hook->how == HOOK_ALONE ? attach_alone(hook) : attach_loaded(hook, program, cgroup_fd);
		if (!link)
			continue;
		hooks_note(hook);
		if (links_count < LINKS_MAX)
			links[links_count++] = link;
	}
	if (cgroup_fd >= 0)
		close(cgroup_fd);
}

static void tell_blind_spots(void)
{
	const char *reason = "", *spot;

	for (unsigned i = 0; (spot = hooks_blind_spot(i, &reason)); i++)
		if (spot[0])
			disable(spot, reason, 0, "");
}

static int take(void *unused, void *record, size_t size)
{
	(void)unused;
	tell_one(record, size);
	return ++taken >= TAKE_MOST ? -EAGAIN : 0;
}

static int put_in(struct bpf_map *map, const void *key, u32 value)
{
	return bpf_map_update_elem(bpf_map__fd(map), key, &value, BPF_ANY) ? -errno : 0;
}

/* How a prefix is watched: the kernel takes the longest that fits, which is to see what the shorter ones would. */
static u32 how_of(const struct options *options, const char *prefix)
{
	u32 how = 0;

	for (unsigned i = 0; i < options->watched_count; i++)
		if (!strncmp(prefix, options->watched[i].prefix, strlen(options->watched[i].prefix)))
			how |= options->watched[i].how;
	return how;
}

static int fill_maps(const struct options *options)
{
	int error = 0;

	for (unsigned i = 0; i < options->ignored_count && !error; i++)
		error = put_in(engine->maps.ignored, &options->ignored[i], 1);
	for (unsigned i = 0; i < options->cgroups_count && !error; i++)
		error = put_in(engine->maps.cgroups, &options->cgroups[i], 1);
	for (unsigned i = 0; i < options->watched_count && !error; i++) {
		const char *prefix = options->watched[i].prefix;
		struct watch_key key = { .bits = strlen(prefix) * 8 };

		memcpy(key.path, prefix, strlen(prefix));
		error = put_in(engine->maps.watched, &key, how_of(options, prefix));
	}
	if (error)
		snprintf(last_words, sizeof(last_words), "the kernel does not take what is watched and left out: %s",
			 strerror(-error));
	return error;
}

int programs_start(const struct options *options, const char *cgroup_root, tell_record *tell)
{
	int error;

	tell_one = tell;
	libbpf_set_print(remember_words);
	hooks_probe();
	error = load(options);
	if (error)
		return error;
	error = fill_maps(options);
	if (error)
		return error;
	attach_all(cgroup_root);
	/* To load programs takes megabytes of the kernel's types; the ring takes as much only when they are given back. */
	malloc_trim(0);
	ring = ring_buffer__new(bpf_map__fd(engine->maps.ring), take, 0, 0);
	if (!ring)
		return -errno;
	tell_blind_spots();
	for (unsigned i = 0; i < disabled_count; i++)
		if (!strcmp(disabled[i].hook, HOOKS[0].name))
			return -ENOTSUP;
	return 0;
}

int programs_fd(void)
{
	return ring_buffer__epoll_fd(ring);
}

void programs_unignore(u32 pid)
{
	bpf_map_delete_elem(bpf_map__fd(engine->maps.ignored), &pid);
}

unsigned programs_take(void)
{
	taken = 0;
	ring_buffer__consume(ring);
	return taken;
}

void programs_sweep(bool all)
{
	int connects = bpf_map__fd(engine->maps.connects), connecting = bpf_map__fd(engine->maps.connecting);
	u64 keys[SWEEP_MAX], count = 0, none = 0, now = boot_ns();
	u32 zero = 0;
	unsigned found = 0;

	if (bpf_map_lookup_elem(connects, &zero, &count) || count == 0)
		return;
	if (!bpf_map_get_next_key(connecting, 0, &keys[0]))
		for (found = 1; found < SWEEP_MAX; found++)
			if (bpf_map_get_next_key(connecting, &keys[found - 1], &keys[found]))
				break;
	if (found == 0)
		bpf_map_update_elem(connects, &zero, &none, BPF_ANY);
	for (unsigned i = 0; i < found; i++) {
		struct event_sock event;

		if (bpf_map_lookup_elem(connecting, &keys[i], &event) ||
		    (!all && now - event.head.time < CONNECT_WAIT_NS))
			continue;
		if (!bpf_map_delete_elem(connecting, &keys[i]) && event.head.time < stopped_at)
			tell_one(&event, sizeof(event));
	}
}

int programs_share(struct bpf_object *other, struct settings *settings)
{
	static const char *const shared[] = { "ring", "counters", "ignored", "cgroups" };

	*settings = engine->rodata->settings;
	for (unsigned i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(other, shared[i]);
		int own = bpf_object__find_map_fd_by_name(engine->obj, shared[i]);
		int error = map ? bpf_map__reuse_fd(map, own) : 0;

		if (error)
			return error;
	}
	return 0;
}

void programs_forget_words(void)
{
	last_words[0] = 0;
}

u64 programs_count(enum counter which)
{
	int cpus = libbpf_num_possible_cpus();
	u64 values[cpus > 0 ? cpus : 1], sum = 0;
	u32 key = which;

	if (!engine || bpf_map_lookup_elem(bpf_map__fd(engine->maps.counters), &key, values))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += values[i];
	return sum;
}

u64 programs_lost(void)
{
	return programs_count(COUNT_LOST) + object_missed(engine->obj) + alone_missed();
}

u64 programs_stop(void)
{
	stopped_at = boot_ns() + STOP_AHEAD_NS;
	engine->bss->stopped_at = stopped_at;
	return stopped_at;
}
