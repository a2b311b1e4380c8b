#include "policy-tokens.h"
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

void policy_free(struct policy *policy)
{
	for (unsigned i = 0; i < policy->hooks_count; i++) {
		for (unsigned t = 0; t < policy->hooks[i]->tags_count; t++)
			free(policy->hooks[i]->tags[t]);
		free(policy->hooks[i]);
	}
	free(policy);
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
	return word_copy(policy->name, sizeof(policy->name), words[1]) ||
	       word_copy(policy->digest, sizeof(policy->digest), words[3]);
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
	if (hook->kind == 0 || word_copy(hook->category, sizeof(hook->category), words[2]) ||
	    word_copy(hook->event, sizeof(hook->event), words[3]))
		return -1;
	/* They become parts of a path. */
	return strpbrk(hook->category, "/.") || strpbrk(hook->event, "/.") ? -1 : 0;
}

static int read_tag(struct reader *at, char **words, int count)
{
	if (!at->hook || count != 2 || at->hook->tags_count == POLICY_TAGS_MAX || word_decode(words[1]) < 0)
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
		if (word_u32(words[3], &size_index) || size_index > 63)
			return -1;
		input->size_index = size_index;
	}
	if (word_u32(words[1], &input->index) || input->index > 63 ||
	    (strcmp(words[4], "-") && word_copy(input->label, sizeof(input->label), words[4])))
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

static int read_message(struct reader *at, char **words, int count)
{
	return at->hook && count == 2 ? word_copy(at->hook->message, sizeof(at->hook->message), words[1]) : -1;
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

	failed = !line || strncmp(line, HEADER, strlen(HEADER)) || word_number(line + strlen(HEADER), revision);
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
