#include "handover-events.h"
#include <stddef.h>
#include <string.h>

#define FNV_START 2166136261u
#define FNV_PRIME 16777619u
#define NONE TOLD_MAX

static struct told given, taken; /* to the next one, from the one before */
static unsigned noted;
static bool is_used[TOLD_MAX];

static u32 mix(u32 hash, u32 word)
{
	for (int i = 0; i < 4; i++, word >>= 8)
		hash = (hash ^ (word & 0xff)) * FNV_PRIME;
	return hash;
}

/* What tells apart the kinds of one record: numbers of the kernel, the same in every build. */
static u32 variety_of(const struct event_head *event)
{
	const void *record = event;

	switch (event->kind) {
	case EVENT_SOCK: return ((const struct event_sock *)record)->op;
	case EVENT_CRED: return ((const struct event_cred *)record)->syscall;
	case EVENT_PTRACE: return ((const struct event_ptrace *)record)->request;
	case EVENT_BPF: return ((const struct event_bpf *)record)->command;
	case EVENT_MODULE: return ((const struct event_module *)record)->syscall;
	case EVENT_DNS: return ((const struct event_dns *)record)->answers;
	default: return 0;
	}
}

/* What an event is in every engine and every build: never a stamp, nor a number that an engine gives of itself. */
static u32 identity_of(const struct event_head *event)
{
	u32 hash = mix(mix(FNV_START, event->kind), variety_of(event));

	hash = mix(mix(hash, event->tgid), event->tid);
	return mix(mix(hash, event->start), event->start >> 32);
}

void told_list_until(u64 time)
{
	given.until = time;
	given.since = time - 2 * TOLD_APART_NS;
}

void told_note(const struct event_head *event)
{
	struct told_event *place;

	/* A fork is learned from and never told. */
	if (event->time < given.since || event->time >= given.until || event->kind == EVENT_FORK)
		return;
	place = &given.events[noted++ % TOLD_MAX];
	if (given.count < TOLD_MAX)
		given.count += 1;
	else if (given.since <= given.until - place->ahead_ns)
		given.since = given.until - place->ahead_ns + 1;
	place->identity = identity_of(event);
	place->ahead_ns = given.until - event->time;
}

void told_give(struct told *to)
{
	memcpy(to, &given, sizeof(*to));
}

void told_take(u64 until, const struct told *list)
{
	taken.until = taken.since = until;
	if (list->until == until && list->count <= TOLD_MAX && list->since <= until)
		memcpy(&taken, list, sizeof(taken));
}

/* The programs of the one before were attached first and so run first: what one thread does becomes two stamps, its own
 * and then this engine's, before the thread does the next. The last alike that is listed up to here is therefore this one,
 * however often the thread repeats itself. A later one is it only where the order is another, because the one before has
 * attached programs of a policy again meanwhile. */
static unsigned find(u32 identity, u64 time, bool also_later)
{
	unsigned found = NONE, later = NONE;

	for (unsigned i = 0; i < taken.count; i++) {
		const struct told_event *one = &taken.events[i];
		u64 at = taken.until - one->ahead_ns;

		if (is_used[i] || one->identity != identity)
			continue;
		if (at <= time && time - at < TOLD_APART_NS &&
		    (found == NONE || one->ahead_ns <= taken.events[found].ahead_ns))
			found = i;
		if (at > time && at - time < TOLD_APART_NS &&
		    (later == NONE || one->ahead_ns > taken.events[later].ahead_ns))
			later = i;
	}
	return found == NONE && also_later ? later : found;
}

/* Not listed is what is older than the list and what the one before stamped after its end. Halfway between the two the
 * stamps of one event would have to be half the list apart to mislead. */
bool told_before(const struct event_head *event)
{
	u64 half = taken.since + (taken.until - taken.since) / 2;
	bool is_earlier = event->time < half;
	unsigned found;

	if (event->time >= taken.until + TOLD_APART_NS)
		return false;
	found = find(identity_of(event), event->time, !is_earlier);
	if (found == NONE)
		return is_earlier;
	is_used[found] = true;
	return true;
}
