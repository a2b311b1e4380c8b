#include "policy-file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (4 << 20)
#define WORDS_MAX 16
#define HEADER "policies 1 "

struct reader {
	struct policy *first, *policy;
	struct policy_hook *hook;
	struct policy_part *part;
	unsigned policies;
	bool ended;
};

void policy_free(struct policy *policy)
{
	for (unsigned i = 0; i < policy->hooks_count; i++) {
		for (unsigned t = 0; t < policy->hooks[i]->tags_count; t++)
			free(policy->hooks[i]->tags[t]);
		free(policy->hooks[i]);
	}
	free(policy);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes %XX in place; the length, or -1. */
static int decode(char *word)
{
	char *to = word;

	for (const char *from = word; *from; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		if (digit(from[1]) < 0 || digit(from[2]) < 0)
			return -1;
		*to++ = digit(from[1]) << 4 | digit(from[2]);
		from += 2;
	}
	*to = 0;
	return to - word;
}

static int copy(char *to, size_t size, char *word)
{
	int len = decode(word);

	if (len < 0 || (size_t)len >= size || strlen(word) != (size_t)len)
		return -1;
	memcpy(to, word, len + 1);
	return 0;
}

static int number_of(const char *word, u64 *to)
{
	char *end;

	errno = 0;
	*to = word[0] == '-' ? (u64)strtoll(word, &end, 10) : strtoull(word, &end, 10);
	return word[0] && !*end && !errno ? 0 : -1;
}

static int u32_of(const char *word, u32 *to)
{
	u64 number;

	if (number_of(word, &number) || number > 0xffffffff)
		return -1;
	*to = number;
	return 0;
}

/* `in` or `not`. */
static int is_not_of(const char *word, u32 *to)
{
	*to = !strcmp(word, "not");
	return *to || !strcmp(word, "in") ? 0 : -1;
}

static int read_policy(struct reader *at, char **words, int count)
{
	struct policy *policy = calloc(1, sizeof(*policy)), **last = &at->first;

	if (!policy)
		return -1;
	while (*last)
		last = &(*last)->next;
	*last = at->policy = policy;
	at->hook = 0;
	at->part = 0;
	if (count != 4 || ++at->policies > POLICIES_MAX)
		return -1;
	policy->monitors = !strcmp(words[2], "monitor");
	if (!policy->monitors && strcmp(words[2], "enforce"))
		return -1;
	return copy(policy->name, sizeof(policy->name), words[1]) ||
	       copy(policy->digest, sizeof(policy->digest), words[3]);
}

static int read_hook(struct reader *at, char **words, int count)
{
	static const char *const kinds[] = { "", "call", "", "tracepoint", "lsm" };
	struct policy_hook *hook;

	if (!at->policy || count != 4 || at->policy->hooks_count == POLICY_HOOKS_MAX)
		return -1;
	hook = calloc(1, sizeof(*hook));
	if (!hook)
		return -1;
	at->policy->hooks[at->policy->hooks_count++] = at->hook = hook;
	at->part = 0;
	for (int i = 1; i < 5; i++)
		if (!strcmp(words[1], kinds[i]))
			hook->kind = i;
	if (hook->kind == 0 || copy(hook->category, sizeof(hook->category), words[2]) ||
	    copy(hook->event, sizeof(hook->event), words[3]))
		return -1;
	/* They become parts of a path. */
	return strpbrk(hook->category, "/.") || strpbrk(hook->event, "/.") ? -1 : 0;
}

static int read_tag(struct reader *at, char **words, int count)
{
	if (!at->hook || count != 2 || at->hook->tags_count == POLICY_TAGS_MAX || decode(words[1]) < 0)
		return -1;
	at->hook->tags[at->hook->tags_count] = strdup(words[1]);
	return at->hook->tags[at->hook->tags_count++] ? 0 : -1;
}

static const struct shape {
	const char *name;
	enum policy_shape shape;
	u32 type, size, is_signed;
	const char *key;
} SHAPES[] = {
	{ "auto", SHAPE_AUTO, 0, 0, 0, "" },
	{ "s8", SHAPE_NUMBER, POLICY_NUMBER, 1, 1, "int_arg" },
	{ "u8", SHAPE_NUMBER, POLICY_NUMBER, 1, 0, "uint_arg" },
	{ "s16", SHAPE_NUMBER, POLICY_NUMBER, 2, 1, "int_arg" },
	{ "u16", SHAPE_NUMBER, POLICY_NUMBER, 2, 0, "uint_arg" },
	{ "s32", SHAPE_NUMBER, POLICY_NUMBER, 4, 1, "int_arg" },
	{ "u32", SHAPE_NUMBER, POLICY_NUMBER, 4, 0, "uint_arg" },
	{ "s64", SHAPE_NUMBER, POLICY_NUMBER, 8, 1, "long_arg" },
	{ "u64", SHAPE_NUMBER, POLICY_NUMBER, 8, 0, "size_arg" },
	{ "fd", SHAPE_FD, POLICY_FD, 4, 1, "file_arg" },
	{ "text", SHAPE_TEXT, POLICY_USER_TEXT, 8, 0, "string_arg" },
	{ "bytes", SHAPE_BYTES, POLICY_USER_BYTES, 8, 0, "bytes_arg" },
	{ "file", SHAPE_FILE, POLICY_FILE, 8, 0, "file_arg" },
	{ "path", SHAPE_PATH, POLICY_PATH, 8, 0, "path_arg" },
	{ "binprm", SHAPE_BINPRM, POLICY_BINPRM, 8, 0, "linux_binprm_arg" },
};

static int read_arg(struct reader *at, char **words, int count)
{
	struct policy_hook *hook = at->hook;
	struct policy_input *input;
	struct policy_arg *arg;
	u32 size_index = 0;

	if (!hook || hook->parts_count > 1 || count != 5 || hook->inputs_count == POLICY_ARGS_MAX)
		return -1;
	/* The first selector keeps them until all are known. */
	arg = &hook->parts[0].args[hook->inputs_count];
	input = &hook->inputs[hook->inputs_count++];
	input->size_index = -1;
	if (strcmp(words[3], "-")) {
		if (u32_of(words[3], &size_index) || size_index > 63)
			return -1;
		input->size_index = size_index;
	}
	if (u32_of(words[1], &input->index) || input->index > 63 ||
	    (strcmp(words[4], "-") && copy(input->label, sizeof(input->label), words[4])))
		return -1;
	for (unsigned i = 0; i < sizeof(SHAPES) / sizeof(SHAPES[0]); i++) {
		if (strcmp(words[2], SHAPES[i].name))
			continue;
		input->shape = SHAPES[i].shape;
		strcpy(input->key, SHAPES[i].key);
		arg->type = SHAPES[i].type;
		arg->size = SHAPES[i].size;
		arg->is_signed = SHAPES[i].is_signed;
		return (input->shape == SHAPE_BYTES) == (input->size_index >= 0) ? 0 : -1;
	}
	return -1;
}

static int read_selector(struct reader *at, char **words, int count)
{
	(void)words;
	if (!at->hook || count != 1 || at->hook->parts_count == POLICY_SELECTORS_MAX)
		return -1;
	at->part = &at->hook->parts[at->hook->parts_count++];
	at->part->monitors = at->policy->monitors;
	at->part->args_count = at->hook->inputs_count;
	if (at->hook->parts_count > 1)
		memcpy(at->part->args, at->hook->parts[0].args, sizeof(at->part->args));
	return 0;
}

static int read_pids(struct reader *at, char **words, int count)
{
	struct policy_part *part = at->part;

	if (!part || count < 4 || count - 3 > POLICY_PIDS_MAX || part->pids_count || is_not_of(words[1], &part->pids_is_not))
		return -1;
	part->pids_in_namespace = !strcmp(words[2], "own");
	for (int i = 3; i < count; i++)
		if (u32_of(words[i], &part->pids[part->pids_count++]))
			return -1;
	return 0;
}

static u32 host_namespace(u32 kind)
{
	static const char *const names[NS_KINDS] = {
		"uts", "ipc", "mnt", "pid", "pid_for_children", "net", "time", "time_for_children", "cgroup", "user",
	};
	/* The first process, or the first thread of the kernel, which may be looked at where that one may not. */
	static const char *const of_host[] = { "/proc/1/ns", "/proc/2/ns" };

	for (int i = 0; i < 2; i++) {
		char file[64], target[64] = "", *number;

		snprintf(file, sizeof(file), "%s/%s", of_host[i], names[kind]);
		if (readlink(file, target, sizeof(target) - 1) < 0)
			continue;
		number = strchr(target, '[');
		if (number)
			return strtoul(number + 1, 0, 10);
	}
	return 0;
}

static int read_namespaces(struct reader *at, char **words, int count)
{
	struct policy_namespaces *to;

	if (!at->part || at->part->namespaces_count == NS_KINDS || count < 4 || count - 3 > POLICY_VALUES_MAX)
		return -1;
	to = &at->part->namespaces[at->part->namespaces_count++];
	if (u32_of(words[1], &to->kind) || to->kind >= NS_KINDS || is_not_of(words[2], &to->is_not))
		return -1;
	for (int i = 3; i < count; i++) {
		u32 *value = &to->values[to->count++];

		if (!strcmp(words[i], "host")) {
			*value = host_namespace(to->kind);
			if (*value == 0)
				snprintf(at->policy->reason, sizeof(at->policy->reason),
					 "the host's own namespace cannot be read");
		} else if (u32_of(words[i], value) || *value == 0) {
			return -1;
		}
	}
	return 0;
}

static int read_caps(struct reader *at, char **words, int count)
{
	static const char *const sets[] = { "effective", "permitted", "inheritable" };
	struct policy_caps *to;

	if (!at->part || at->part->caps_count == POLICY_CAPS_MAX || count != 4)
		return -1;
	to = &at->part->caps[at->part->caps_count++];
	to->set = 3;
	for (u32 i = 0; i < 3; i++)
		if (!strcmp(words[1], sets[i]))
			to->set = i;
	return to->set == 3 || is_not_of(words[2], &to->is_not) || number_of(words[3], &to->mask);
}

static int read_value(struct policy_value *to, char *word, u32 op, bool is_number)
{
	char *second = op == POLICY_RANGE ? strchr(word, ':') : 0;
	int len;

	if (is_number) {
		if (op == POLICY_RANGE && !second)
			return -1;
		if (second)
			*second++ = 0;
		return number_of(word, &to->words[0]) || (second && number_of(second, &to->words[1]));
	}
	len = decode(word);
	if (len <= 0 || len > POLICY_TEXT_BYTES)
		return -1;
	memcpy(to->words, word, len);
	to->len = len;
	return 0;
}

static int read_match(struct reader *at, char **words, int count)
{
	static const char *const ops[] = { "", "equal", "prefix", "postfix", "above", "below", "mask", "range" };
	struct policy_part *part = at->part;
	struct policy_match *to;
	bool is_number;

	if (!part || part->matches_count > POLICY_MATCHES_MAX || count < 5 || count - 4 > POLICY_MATCH_VALUES_MAX)
		return -1;
	to = &part->matches[part->matches_count++];
	if (!strcmp(words[1], "binary"))
		to->slot = POLICY_BINARY_SLOT;
	else if (u32_of(words[1], &to->slot) || to->slot >= at->hook->inputs_count)
		return -1;
	for (u32 i = 1; i < 8; i++)
		if (!strcmp(words[2], ops[i]))
			to->op = i;
	if (!to->op || is_not_of(words[3], &to->is_not))
		return -1;
	/* Of what only the kernel's format tells, nothing can be compared. */
	if (to->slot != POLICY_BINARY_SLOT && at->hook->inputs[to->slot].shape == SHAPE_AUTO)
		return -1;
	is_number = to->slot != POLICY_BINARY_SLOT && (at->hook->inputs[to->slot].shape == SHAPE_NUMBER);
	if (is_number == (to->op == POLICY_PREFIX || to->op == POLICY_POSTFIX))
		if (is_number || to->op != POLICY_EQUAL)
			return -1;
	for (int i = 4; i < count; i++)
		if (read_value(&to->values[to->count++], words[i], to->op, is_number))
			return -1;
	return 0;
}

/* act post|silent SIGNAL ERRNO */
static int read_act(struct reader *at, char **words, int count)
{
	u32 refusal;

	if (!at->part || count != 4 || u32_of(words[2], &at->part->signal) || at->part->signal > 64 ||
	    u32_of(words[3], &refusal) || refusal > 4095 || (refusal && at->hook->kind != POLICY_LSM))
		return -1;
	at->part->refusal = -(s32)refusal;
	at->part->is_silent = !strcmp(words[1], "silent");
	return at->part->is_silent || !strcmp(words[1], "post") ? 0 : -1;
}

static int read_message(struct reader *at, char **words, int count)
{
	return at->hook && count == 2 ? copy(at->hook->message, sizeof(at->hook->message), words[1]) : -1;
}

static int read_end(struct reader *at, char **words, int count)
{
	(void)words;
	at->ended = true;
	return count == 1 ? 0 : -1;
}

static const struct word {
	const char *name;
	int (*read)(struct reader *at, char **words, int count);
} WORDS[] = {
	{ "policy", read_policy }, { "hook", read_hook }, { "message", read_message }, { "tag", read_tag },
	{ "arg", read_arg }, { "selector", read_selector }, { "pids", read_pids }, { "ns", read_namespaces },
	{ "caps", read_caps }, { "match", read_match }, { "act", read_act }, { "end", read_end },
};

static int read_line(struct reader *at, char *line)
{
	char *words[WORDS_MAX], *rest = 0;
	int count = 0;

	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(0, " ", &rest)) {
		if (count == WORDS_MAX)
			return -1;
		words[count++] = word;
	}
	if (count == 0 || at->ended)
		return -1;
	for (unsigned i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (!strcmp(words[0], WORDS[i].name))
			return WORDS[i].read(at, words, count);
	return -1;
}

static int parse(char *text, struct policy **first, u64 *revision, char *reason, size_t size)
{
	struct reader at = { 0 };
	char *rest = 0;
	int number = 1, failed;
	char *line = strtok_r(text, "\n", &rest);

	failed = !line || strncmp(line, HEADER, strlen(HEADER)) || number_of(line + strlen(HEADER), revision);
	while (!failed && (line = strtok_r(0, "\n", &rest))) {
		number += 1;
		failed = read_line(&at, line);
	}
	if (!failed && !at.ended) {
		snprintf(reason, size, "the file of policies is torn");
		failed = 1;
	} else if (failed) {
		snprintf(reason, size, "line %d of the file of policies is not valid", number);
	}
	for (struct policy *next; failed && at.first; at.first = next) {
		next = at.first->next;
		policy_free(at.first);
	}
	*first = at.first;
	return failed ? -EINVAL : 0;
}

int policy_file_read(const char *path, struct policy **first, u64 *revision, char *reason, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), error;
	struct stat facts;
	char *text;
	ssize_t got = 0, len = 0;

	*first = 0;
	if (file < 0) {
		snprintf(reason, size, "the file of policies cannot be opened: %s", strerror(errno));
		return -errno;
	}
	if (fstat(file, &facts) || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid() || (facts.st_mode & 077) ||
	    facts.st_size > FILE_MAX_BYTES) {
		snprintf(reason, size, "the file of policies is too large, or not this user's alone");
		close(file);
		return -EPERM;
	}
	text = calloc(1, facts.st_size + 1);
	while (text && len < facts.st_size && (got = read(file, text + len, facts.st_size - len)) > 0)
		len += got;
	close(file);
	if (!text || got < 0) {
		snprintf(reason, size, "the file of policies cannot be read");
		free(text);
		return -EIO;
	}
	error = parse(text, first, revision, reason, size);
	free(text);
	return error;
}
