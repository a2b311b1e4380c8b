#include "policies.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "optional-programs.h"
#include "policy-hooks.h"
#include "programs.h"
#include "policy.skel.h"

#define DRAIN_MAX 64 /* batches: more than the ring holds */

static const char *path;
static struct policy *current, *before;
static struct policy_bpf *programs;
static unsigned generation;
static u32 rules;
static u64 revision;
static char file_reason[256];

void policies_init(const char *file)
{
	path = file;
}

static const struct policy_hook *find_rule(struct policy *first, u32 rule, const struct policy **whose)
{
	for (struct policy *policy = first; policy; policy = policy->next)
		for (unsigned i = 0; i < policy->hooks_count; i++)
			if (policy->hooks[i]->rule == rule) {
				*whose = policy;
				return policy->hooks[i];
			}
	return 0;
}

const struct policy_hook *policies_rule(u32 rule, const struct policy **policy)
{
	const struct policy_hook *hook = find_rule(current, rule, policy);

	return hook ? hook : find_rule(before, rule, policy);
}

static void free_all(struct policy *first)
{
	for (struct policy *next; first; first = next) {
		next = first->next;
		policy_free(first);
	}
}

static struct policy **find_named(struct policy **from, const char *name)
{
	while (*from && strcmp((*from)->name, name))
		from = &(*from)->next;
	return from;
}

/* How many rules of this and the policies before it stand at a place, and how many parts they have. */
static void count_until(struct policy *first, const struct policy *last, u32 place, unsigned *at_place, unsigned *parts)
{
	*at_place = *parts = 0;
	for (struct policy *policy = first; policy; policy = policy->next) {
		for (unsigned i = 0; i < policy->hooks_count; i++) {
			if (policy->hooks[i]->rule == 0)
				continue;
			*parts += policy->hooks[i]->parts_count;
			*at_place += policy->hooks[i]->place == place;
		}
		if (policy == last)
			return;
	}
}

static int prepare(struct policy *policy, struct policy *first, unsigned next)
{
	unsigned at_place, parts;

	if (policy->reason[0])
		return -1;
	for (unsigned i = 0; i < policy->hooks_count; i++) {
		if (policy_hook_attach(policy->hooks[i], next, policy->reason, sizeof(policy->reason)))
			return -1;
		policy->hooks[i]->rule = ++rules;
		count_until(first, policy, policy->hooks[i]->place, &at_place, &parts);
		if (at_place > POLICY_RULES_MAX || parts > POLICY_PARTS_MAX / 2) {
			snprintf(policy->reason, sizeof(policy->reason), "there are too many %s already",
				 at_place > POLICY_RULES_MAX ? "hooks at one place" : "selectors");
			return -1;
		}
	}
	return 0;
}

static bool is_in_force(const struct policy *policy)
{
	return policy->hooks_count > 0 && policy->hooks[0]->rule > 0;
}

static void say_kept(struct policy *old, const struct policy *newer)
{
	old->reason[0] = 0;
	if (newer->reason[0])
		snprintf(old->reason, sizeof(old->reason), "%.440s; the version before stays in force", newer->reason);
}

/* Each new policy; or the old one, where it is the same or the new one cannot be carried out. */
static void choose(struct policy **first, unsigned next)
{
	for (struct policy **at = first; *at; at = &(*at)->next) {
		struct policy *newer = *at, **found = find_named(&current, newer->name), *old = *found;
		bool can_stay = old && is_in_force(old);
		bool is_same = can_stay && !strcmp(old->digest, newer->digest) && old->monitors == newer->monitors;

		newer->slot = POLICY_COUNTERS_MAX;
		if (!programs)
			snprintf(newer->reason, sizeof(newer->reason), "%s", file_reason);
		if (!is_same && programs && prepare(newer, *first, next) == 0)
			continue;
		for (unsigned i = 0; i < newer->hooks_count; i++)
			newer->hooks[i]->rule = 0;
		if (!can_stay)
			continue;
		*found = old->next;
		say_kept(old, newer);
		for (unsigned i = 0; i < old->hooks_count; i++)
			policy_hook_keep(old->hooks[i], next);
		old->next = newer->next;
		*at = old;
		policy_free(newer);
	}
}

static void begin_counters(u32 slot)
{
	int cpus = libbpf_num_possible_cpus();
	struct policy_stats none[cpus > 0 ? cpus : 1];

	memset(none, 0, sizeof(none));
	bpf_map_update_elem(bpf_map__fd(programs->maps.policy_stats), &slot, none, BPF_ANY);
}

/* Counters go on across the versions of a name; a name that is new begins at nothing. */
static void give_slots(struct policy *first)
{
	bool used[POLICY_COUNTERS_MAX] = { false };
	struct policy *const lists[] = { first, current };

	for (int l = 0; l < 2; l++)
		for (struct policy *policy = lists[l]; policy; policy = policy->next)
			if (policy->slot < POLICY_COUNTERS_MAX)
				used[policy->slot] = true;
	for (struct policy *policy = first; policy; policy = policy->next) {
		struct policy *old = *find_named(&current, policy->name);

		if (policy->slot < POLICY_COUNTERS_MAX)
			continue;
		if (old) {
			policy->slot = old->slot;
			continue;
		}
		for (policy->slot = 0; used[policy->slot] && policy->slot < POLICY_COUNTERS_MAX - 1;)
			policy->slot += 1;
		used[policy->slot] = true;
		begin_counters(policy->slot);
	}
}

static int put_hook(struct policy_hook *hook, struct policy_key *key, u32 slot)
{
	int parts = bpf_map__fd(programs->maps.policy_parts);

	for (unsigned i = 0; i < hook->parts_count; i++) {
		hook->parts[i].rule = hook->rule;
		hook->parts[i].policy = slot;
		key->selector = i;
		if (bpf_map_update_elem(parts, key, &hook->parts[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

static int put_all(struct policy *first, unsigned next)
{
	unsigned ordinals[POLICIES_MAX * POLICY_HOOKS_MAX] = { 0 }, count = 0;
	u32 places[POLICIES_MAX * POLICY_HOOKS_MAX];
	int error = 0;

	for (struct policy *policy = first; policy; policy = policy->next)
		for (unsigned i = 0; i < policy->hooks_count && !error; i++) {
			struct policy_hook *hook = policy->hooks[i];
			struct policy_key key = { .generation = next, .place = hook->place };
			unsigned at = 0;

			if (hook->rule == 0)
				continue;
			while (at < count && places[at] != hook->place)
				at += 1;
			if (at == count)
				places[count++] = hook->place;
			key.ordinal = ordinals[at]++;
			error = put_hook(hook, &key, policy->slot);
		}
	return error;
}

/* Everything of other generations than this goes. */
static void remove_others(unsigned own)
{
	int parts = bpf_map__fd(programs->maps.policy_parts), has;
	struct policy_key key, next;

	has = bpf_map_get_next_key(parts, 0, &key);
	while (!has) {
		has = bpf_map_get_next_key(parts, &key, &next);
		if (key.generation != own)
			bpf_map_delete_elem(parts, &key);
		key = next;
	}
}

/* From here on every event is judged by the new set; those that are still judged by the old one are waited for. */
static int make_current(struct policy *first, unsigned next)
{
	u32 zero = 0;
	int error = put_all(first, next);

	if (!error && bpf_map_update_elem(bpf_map__fd(programs->maps.policy_generation), &zero, &next, BPF_ANY))
		error = -errno;
	if (error) {
		remove_others(generation);
		snprintf(file_reason, sizeof(file_reason), "the set before stays in force: %s", strerror(-error));
		return error;
	}
	generation = next;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	remove_others(next);
	return 0;
}

static void drain(void)
{
	for (int i = 0; i < DRAIN_MAX && programs_take() > 0; i++)
		;
}

void policies_reload(void)
{
	struct policy *first = 0;
	u64 read = 0;
	int error;

	if (!path)
		return;
	file_reason[0] = 0;
	error = policy_file_read(path, &first, &read, file_reason, sizeof(file_reason));
	/* Where there never was a file there are no policies. */
	if (error == -ENOENT && !current)
		file_reason[0] = 0;
	if (error)
		return;
	revision = read;
	/* What the set before the present one told has been read after this, and nobody asks for it any more. */
	if (before)
		drain();
	free_all(before);
	before = 0;
	if (first && !programs)
		programs = policy_programs(file_reason, sizeof(file_reason));
	choose(&first, generation + 1);
	if (programs) {
		give_slots(first);
		make_current(first, generation + 1);
	}
	before = current;
	current = first;
}

static void read_stats(u32 slot, struct policy_stats *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct policy_stats values[cpus > 0 ? cpus : 1];

	memset(sum, 0, sizeof(*sum));
	if (!programs || bpf_map_lookup_elem(bpf_map__fd(programs->maps.policy_stats), &slot, values))
		return;
	for (int i = 0; i < cpus; i++) {
		sum->matched += values[i].matched;
		sum->signals += values[i].signals;
		sum->signals_failed += values[i].signals_failed;
		sum->refusals += values[i].refusals;
		sum->monitored_signals += values[i].monitored_signals;
		sum->monitored_refusals += values[i].monitored_refusals;
	}
}

static void put_count(struct text *to, const char *key, u64 value)
{
	put(to, ",\"");
	put(to, key);
	put(to, "\":");
	put_number(to, value);
}

static void tell_one(struct text *to, const struct policy *policy)
{
	struct policy_stats sum = { 0 };

	if (is_in_force(policy))
		read_stats(policy->slot, &sum);
	put(to, "{\"policy\":");
	put_string(to, policy->name, strlen(policy->name));
	put(to, ",\"state\":\"");
	put(to, !is_in_force(policy) ? "failed" : policy->monitors ? "monitoring" : "enforcing");
	put(to, "\",\"digest\":");
	put_string(to, policy->digest, strlen(policy->digest));
	put(to, ",\"reason\":");
	put_string(to, policy->reason, strlen(policy->reason));
	put_count(to, "matched", sum.matched);
	put_count(to, "signals", sum.signals);
	put_count(to, "signals_failed", sum.signals_failed);
	put_count(to, "refusals", sum.refusals);
	put_count(to, "monitored_signals", sum.monitored_signals);
	put_count(to, "monitored_refusals", sum.monitored_refusals);
	put(to, "}");
}

void policies_tell(struct text *(*begin)(void), void (*say)(struct text *to, char *start))
{
	struct text *to;
	char *start;
	unsigned count = 0;

	if (!path)
		return;
	for (struct policy *policy = current; policy; policy = policy->next, count++) {
		to = begin();
		start = to->at;
		tell_one(to, policy);
		say(to, start);
	}
	to = begin();
	start = to->at;
	put(to, "{\"policies\":");
	put_number(to, count);
	put_count(to, "revision", revision);
	put(to, ",\"reason\":");
	put_string(to, file_reason, strlen(file_reason));
	put(to, "}");
	say(to, start);
}

void policies_tidy(void)
{
	policy_hooks_sweep(generation);
}

void policies_stop(u64 when)
{
	if (programs)
		programs->bss->stopped_at = when;
}

u64 policies_missed(void)
{
	return programs ? object_missed(programs->obj) : 0;
}
