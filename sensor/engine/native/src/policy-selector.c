/* The lines of a selector: whom it fits, and what is done then. */
#include "policy-tokens.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `in` or `not`. */
static int is_not_of(const char *word, u32 *to)
{
	*to = !strcmp(word, "not");
	return *to || !strcmp(word, "in") ? 0 : -1;
}

int read_selector(struct reader *at, char **words, int count)
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

int read_pids(struct reader *at, char **words, int count)
{
	struct policy_part *part = at->part;

	if (!part || count < 4 || count - 3 > POLICY_PIDS_MAX || part->pids_count || is_not_of(words[1], &part->pids_is_not))
		return -1;
	part->pids_in_namespace = !strcmp(words[2], "own");
	for (int i = 3; i < count; i++)
		if (word_u32(words[i], &part->pids[part->pids_count++]))
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

int read_namespaces(struct reader *at, char **words, int count)
{
	struct policy_namespaces *to;

	if (!at->part || at->part->namespaces_count == NS_KINDS || count < 4 || count - 3 > POLICY_VALUES_MAX)
		return -1;
	to = &at->part->namespaces[at->part->namespaces_count++];
	if (word_u32(words[1], &to->kind) || to->kind >= NS_KINDS || is_not_of(words[2], &to->is_not))
		return -1;
	for (int i = 3; i < count; i++) {
		u32 *value = &to->values[to->count++];

		if (!strcmp(words[i], "host")) {
			*value = host_namespace(to->kind);
			if (*value == 0)
				snprintf(at->policy->reason, sizeof(at->policy->reason),
					 "the host's own namespace cannot be read");
		} else if (word_u32(words[i], value) || *value == 0) {
			return -1;
		}
	}
	return 0;
}

int read_caps(struct reader *at, char **words, int count)
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
	return to->set == 3 || is_not_of(words[2], &to->is_not) || word_number(words[3], &to->mask);
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
		return word_number(word, &to->words[0]) || (second && word_number(second, &to->words[1]));
	}
	len = word_decode(word);
	if (len <= 0 || len > POLICY_TEXT_BYTES)
		return -1;
	memcpy(to->words, word, len);
	to->len = len;
	return 0;
}

int read_match(struct reader *at, char **words, int count)
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
	else if (word_u32(words[1], &to->slot) || to->slot >= at->hook->inputs_count)
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
int read_act(struct reader *at, char **words, int count)
{
	u32 refusal;

	if (!at->part || count != 4 || word_u32(words[2], &at->part->signal) || at->part->signal > 64 ||
	    word_u32(words[3], &refusal) || refusal > 4095 || (refusal && at->hook->kind != POLICY_LSM))
		return -1;
	at->part->refusal = -(s32)refusal;
	at->part->is_silent = !strcmp(words[1], "silent");
	return at->part->is_silent || !strcmp(words[1], "post") ? 0 : -1;
}
