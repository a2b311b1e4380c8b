#include "policy-hooks.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "optional-programs.h"
#include "policy-functions.h"
#include "programs.h"
#include "tracefs.h"
#include "policy.skel.h"

#define HOOKS_ATTACHED_MAX (POLICIES_MAX * POLICY_HOOKS_MAX)
#define FIRST_FIELD_OFFSET 8 /* before it stands what is the kernel's own */
#define CALL_ARGS_OFFSET 16
#define CALL_ARGS 6
#define CALL_FIELDS 5 /* of a call's description, before its arguments */
#define LINE_CHARS 512

static const struct { const char *name; u32 number; } CALLS[] = {
#include "syscall-numbers.h"
};

static struct attached {
	struct bpf_link *link;
	u32 place;
	unsigned generation;
	bool can_refuse;
} attached[HOOKS_ATTACHED_MAX];
static unsigned attached_count;
static struct policy_bpf *programs;

static struct policy_bpf *load(bool with_cookies)
{
	struct bpf_program *program;

	struct policy_bpf *opened = policy_bpf__open();
	struct settings settings;

	if (!opened)
		return 0;
	if (programs_share(opened->obj, &settings)) {
		policy_bpf__destroy(opened);
		return 0;
	}
	memcpy((void *)&opened->rodata->settings, &settings, sizeof(settings));
	bpf_object__for_each_program(program, opened->obj)
		bpf_program__set_autoload(program, bpf_program__type(program) == BPF_PROG_TYPE_TRACEPOINT);
	bpf_program__set_autoload(opened->progs.on_policy_tracepoint, with_cookies);
	programs_forget_words();
	if (!policy_bpf__load(opened))
		return opened;
	policy_bpf__destroy(opened);
	return 0;
}

struct policy_bpf *policy_programs(char *reason, size_t size)
{
	/* A cookie needs Linux 5.15. */
	programs = load(true);
	if (!programs)
		programs = load(false);
	if (!programs)
		snprintf(reason, size, "the kernel refuses the programs: %.200s", programs_last_words());
	return programs;
}

static int call_number(const char *name)
{
	for (unsigned i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
		if (!strcmp(CALLS[i].name, name))
			return CALLS[i].number;
	return -1;
}

/* "category/name" of the tracepoint a hook is at. */
static const char *event_of(const struct policy_hook *hook)
{
	static char event[2 * POLICY_NAME_CHARS + 16];

	snprintf(event, sizeof(event), "%s/%s%s", hook->category, hook->kind == POLICY_ENTER ? "sys_enter_" : "", hook->event);
	return event;
}

static int refuse_field(const struct policy_input *input, const char *why, char *reason, size_t size)
{
	snprintf(reason, size, "the argument of index %u %s", input->index, why);
	return -1;
}

/* How many bytes of a field are its value: an argument of a call stands in a whole register, whatever its type is. */
static u32 value_size(const char *line)
{
	static const char *const halves[] = { "int", "unsigned int", "unsigned", "u32", "__u32", "__s32", "socklen_t" };
	const char *at = strstr(line, "\tsize:");
	char type[LINE_CHARS] = "", *name;
	u32 size = 0;

	if (!at || sscanf(at, "\tsize:%u", &size) != 1 || sscanf(strstr(line, "field:"), "field:%511[^;]", type) != 1)
		return 0;
	name = strrchr(type, ' ');
	if (name)
		*name = 0;
	for (unsigned i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
		if (!strcmp(type, halves[i]))
			return sizeof(u32);
	return size <= sizeof(u64) ? size : 0;
}

/* A field as the kernel describes it: "\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;" */
static int complete(struct policy_input *input, struct policy_arg *arg, const char *line, bool is_call, char *reason,
		    size_t why)
{
	const char *type = strstr(line, "field:"), *at = strstr(line, "\toffset:");
	unsigned offset, size, is_signed;
	bool is_text = type && (strstr(line, "char[]") || strchr(line, '['));

	if (!at || sscanf(at, "\toffset:%u;\tsize:%u;\tsigned:%u;", &offset, &size, &is_signed) != 3)
		return refuse_field(input, "is not described by the kernel", reason, why);
	if (offset < FIRST_FIELD_OFFSET)
		return refuse_field(input, "is a field of the kernel's own", reason, why);
	arg->offset = offset;
	if (is_text && (input->shape == SHAPE_AUTO || input->shape == SHAPE_TEXT)) {
		if (!strstr(line, "char"))
			return refuse_field(input, "is a list", reason, why);
		arg->type = strstr(type, "__data_loc") ? POLICY_DATA_LOC : POLICY_KERNEL_TEXT;
		arg->size = 4;
		input->shape = SHAPE_TEXT;
		strcpy(input->key, "string_arg");
		return 0;
	}
	if (is_text || (size != 1 && size != 2 && size != 4 && size != 8))
		return refuse_field(input, "is not of this type", reason, why);
	if (input->shape == SHAPE_AUTO) {
		arg->type = POLICY_NUMBER;
		arg->size = size;
		arg->is_signed = is_signed;
		input->shape = SHAPE_NUMBER;
		strcpy(input->key, size == 8 ? (is_signed ? "long_arg" : "size_arg") : is_signed ? "int_arg" : "uint_arg");
		return 0;
	}
	if (arg->size > size)
		return refuse_field(input, "is smaller than its type", reason, why);
	/* Only a call's pointers lead to what is the task's own. */
	if (!is_call && input->shape == SHAPE_BYTES)
		return refuse_field(input, "is not of a call, where alone a buffer can be read", reason, why);
	if (!is_call && input->shape == SHAPE_TEXT)
		arg->type = POLICY_KERNEL_POINTER;
	return 0;
}

/* Takes over what a field says of the arguments that are meant by it. */
static int complete_field(struct policy_hook *hook, unsigned index, const char *line, char *reason, size_t size)
{
	bool is_call = !strcmp(hook->category, "syscalls");
	const char *at = strstr(line, "\toffset:");

	for (unsigned i = 0; i < hook->inputs_count; i++) {
		struct policy_arg *arg = &hook->parts[0].args[i];

		if (hook->inputs[i].size_index == (int)index) {
			arg->size_size = value_size(line);
			if (at)
				sscanf(at, "\toffset:%u", &arg->size_offset);
		}
		if (hook->kind == POLICY_TRACEPOINT && hook->inputs[i].index == index &&
		    complete(&hook->inputs[i], arg, line, is_call, reason, size))
			return -1;
	}
	return 0;
}

/* Reads the kernel's description. What it does not list is not there: of a call, a register that nobody filled. */
static int complete_fields(struct policy_hook *hook, FILE *format, u32 *id, char *reason, size_t size)
{
	unsigned first = hook->kind == POLICY_ENTER ? CALL_FIELDS : 0, index = 0;
	bool is_call = !strcmp(hook->category, "syscalls");
	char line[LINE_CHARS];

	while (fgets(line, sizeof(line), format)) {
		sscanf(line, "ID: %u", id);
		/* Texts that stand behind a call's arguments are in the record only, not where programs read. */
		if (!strstr(line, "field:") || (is_call && strstr(line, "__data_loc")))
			continue;
		if (index >= first && complete_field(hook, index - first, line, reason, size))
			return -1;
		index += 1;
	}
	for (unsigned i = 0; i < hook->inputs_count; i++) {
		const struct policy_input *input = &hook->inputs[i];

		if (input->index + first < index && (input->size_index < 0 || input->size_index + first < index))
			continue;
		snprintf(reason, size, "%.64s/%.64s has %u %s", hook->category, hook->event, index < first ? 0 : index - first,
			 first ? "arguments" : "fields");
		return -1;
	}
	return 0;
}

/* Where the arguments of a call stand does not depend on the kernel. */
static int complete_call(struct policy_hook *hook, u32 step, u32 first, char *reason, size_t size)
{
	struct policy_arg *args = hook->parts[0].args;

	for (unsigned i = 0; i < hook->inputs_count; i++) {
		struct policy_input *input = &hook->inputs[i];

		if (input->index >= CALL_ARGS || input->size_index >= CALL_ARGS || input->shape == SHAPE_AUTO)
			return refuse_field(input, "is not one of the call", reason, size);
		args[i].offset = first + step * input->index;
		args[i].size_offset = first + step * (input->size_index < 0 ? 0 : input->size_index);
	}
	return 0;
}

static int place_function(struct policy_hook *hook, char *reason, size_t size)
{
	u32 which = !strcmp(hook->event, "file_open") ? POLICY_LSM_FILE_OPEN :
		    !strcmp(hook->event, "bprm_check_security") ? POLICY_LSM_BPRM_CHECK : 0;

	if (!which) {
		snprintf(reason, size, "lsm/%s is no hook of this engine", hook->event);
		return -1;
	}
	for (unsigned i = 0; i < hook->inputs_count; i++)
		if (hook->inputs[i].index > 0)
			return refuse_field(&hook->inputs[i], "is not one of the hook", reason, size);
	hook->place = POLICY_LSM << POLICY_PLACE_SHIFT | which;
	return complete_call(hook, 8, 0, reason, size);
}

static int place(struct policy_hook *hook, char *reason, size_t size)
{
	bool is_call = !strcmp(hook->category, "syscalls");
	const char *name = hook->event;
	u32 kind = hook->kind, id = 0;
	int number, failed;
	FILE *format;

	if (hook->kind == POLICY_LSM)
		return place_function(hook, reason, size);
	format = tracefs_open(event_of(hook), "format");
	if (!format) {
		if (errno == ENOENT)
			snprintf(reason, size, "the kernel has no tracepoint %s", event_of(hook));
		else
			snprintf(reason, size, "%s cannot be read: %s", event_of(hook), strerror(errno));
		return -1;
	}
	failed = complete_fields(hook, format, &id, reason, size);
	fclose(format);
	if (failed)
		return -1;
	if (is_call && !strncmp(name, "sys_enter_", 10))
		kind = POLICY_ENTER;
	if (is_call && !strncmp(name, "sys_exit_", 9))
		kind = POLICY_EXIT;
	if (kind == POLICY_TRACEPOINT) {
		if (bpf_program__fd(programs->progs.on_policy_tracepoint) < 0) {
			snprintf(reason, size, "%s/%s: other tracepoints than of calls need Linux 5.15", hook->category, name);
			return -1;
		}
		hook->place = kind << POLICY_PLACE_SHIFT | id;
		return 0;
	}
	if (hook->kind == POLICY_ENTER && complete_call(hook, 8, CALL_ARGS_OFFSET, reason, size))
		return -1;
	number = call_number(hook->kind == POLICY_ENTER ? name : kind == POLICY_ENTER ? name + 10 : name + 9);
	if (number < 0) {
		snprintf(reason, size, "%.128s: the number of this call is not known", name);
		return -1;
	}
	hook->place = kind << POLICY_PLACE_SHIFT | number;
	return 0;
}

static struct bpf_link *attach(const struct policy_hook *hook)
{
	u64 number = hook->place & ((1 << POLICY_PLACE_SHIFT) - 1);

	switch (hook->place >> POLICY_PLACE_SHIFT) {
	case POLICY_ENTER: return tracefs_attach(programs->progs.on_policy_enter, event_of(hook), 0);
	case POLICY_EXIT: return tracefs_attach(programs->progs.on_policy_exit, event_of(hook), 0);
	case POLICY_TRACEPOINT: return tracefs_attach(programs->progs.on_policy_tracepoint, event_of(hook), number);
	default: return 0;
	}
}

static struct bpf_link *attach_any(const struct policy_hook *hook, bool *can_refuse, char *reason, size_t size)
{
	struct alone_source source = { .name = "policy_bpf", .loaded = programs->obj };
	struct bpf_link *link;

	source.bytes = policy_bpf__elf_bytes(&source.size);
	programs_forget_words();
	if (hook->place >> POLICY_PLACE_SHIFT == POLICY_LSM)
		return policy_function_attach(hook, &source, can_refuse, reason, size);
	link = attach(hook);
	if (!link)
		snprintf(reason, size, "%s/%s cannot be attached: %.128s", hook->category, hook->event,
			 programs_last_words()[0] ? programs_last_words() : strerror(errno));
	return link;
}

static struct attached *find(u32 place)
{
	for (unsigned i = 0; i < attached_count; i++)
		if (attached[i].place == place)
			return &attached[i];
	return 0;
}

int policy_hook_attach(struct policy_hook *hook, unsigned generation, char *reason, size_t size)
{
	struct attached *one;
	struct bpf_link *link;
	bool can_refuse = false;

	if (place(hook, reason, size))
		return -1;
	for (unsigned i = 1; i < hook->parts_count; i++)
		memcpy(hook->parts[i].args, hook->parts[0].args, sizeof(hook->parts[0].args));
	one = find(hook->place);
	if (one && (one->can_refuse || !policy_refuses(hook))) {
		one->generation = generation;
		return 0;
	}
	if (!one && attached_count == HOOKS_ATTACHED_MAX) {
		snprintf(reason, size, "there are too many hooks already");
		return -1;
	}
	link = attach_any(hook, &can_refuse, reason, size);
	if (!link)
		return -1;
	if (one)
		bpf_link__destroy(one->link);
	else
		one = &attached[attached_count++];
	*one = (struct attached){ link, hook->place, generation, can_refuse };
	return 0;
}

void policy_hook_keep(const struct policy_hook *hook, unsigned generation)
{
	struct attached *one = find(hook->place);

	if (one)
		one->generation = generation;
}

void policy_hooks_sweep(unsigned generation)
{
	for (unsigned i = 0; i < attached_count; i++) {
		if (attached[i].generation == generation)
			continue;
		bpf_link__destroy(attached[i].link);
		attached[i] = attached[--attached_count];
		return;
	}
}
