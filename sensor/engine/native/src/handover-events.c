#include "handover-events.h"
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define FNV_START 2166136261u
#define FNV_PRIME 16777619u
#define NONE TOLD_MAX

/* The page is true after each store, in the order in which they stand here: a kill comes between any two. */
#define THEN() atomic_signal_fence(memory_order_seq_cst)

struct stamped { u32 identity; u64 at; };

static struct told given; /* to the next one, when this one leaves */
static unsigned given_noted;
static struct { u64 until, half; unsigned count; struct stamped events[TOLD_MAX]; } taken; /* from the one before */
static bool is_used[TOLD_MAX];
/* What was told last, as the page has it after the next write. */
static struct { u64 noted, until, since; struct stamped events[TOLD_MAX]; } recent;
static struct told *kept;
static struct told_live *live;

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

static void list_for_leaving(u32 identity, u64 time)
{
	struct told_event *place;

	if (time < given.since || time >= given.until)
		return;
	place = &given.events[given_noted++ % TOLD_MAX];
	if (given.count < TOLD_MAX)
		given.count += 1;
	else if (given.since <= given.until - place->ahead_ns)
		given.since = given.until - place->ahead_ns + 1;
	place->identity = identity;
	place->ahead_ns = given.until - time;
}

void told_note(const struct event_head *event)
{
	struct stamped *place = &recent.events[recent.noted % TOLD_MAX];

	/* A fork is learned from and never told. */
	if (event->kind == EVENT_FORK)
		return;
	if (recent.noted >= TOLD_MAX && place->at >= recent.since)
		recent.since = place->at + 1;
	*place = (struct stamped){ identity_of(event), event->time };
	recent.noted += 1;
	if (event->time > recent.until)
		recent.until = event->time;
	list_for_leaving(place->identity, event->time);
}

void told_keep(struct told *list, struct told_live *how_far)
{
	kept = list;
	live = how_far;
}

void told_writing(u64 size)
{
	u64 from;

	if (!live || live->noted == recent.noted)
		return;
	from = recent.noted - live->written > TOLD_MAX ? recent.noted - TOLD_MAX : live->written;
	live->size = size;
	live->until = recent.until;
	live->since = recent.since;
	THEN();
	live->noted = recent.noted;
	THEN();
	for (; from < recent.noted; from++) {
		const struct stamped *one = &recent.events[from % TOLD_MAX];

		kept->events[from % TOLD_MAX].identity = one->identity;
		kept->events[from % TOLD_MAX].steps = one->at / LIVE_STEP_NS;
	}
	THEN();
}

void told_written(void)
{
	if (!live)
		return;
	THEN();
	kept->until = live->until;
	kept->since = live->since;
	THEN();
	live->written = live->noted;
}

void told_give(struct told *to)
{
	/* From here on a kill leaves no list. */
	if (live)
		memset(live, 0, sizeof(*live));
	live = 0;
	given.untold = to->untold;
	THEN();
	memcpy(to, &given, sizeof(*to));
}

static void take_from(u64 until, u64 since)
{
	taken.until = until;
	taken.half = since + (until > since ? (until - since) / 2 : 0);
	taken.count = 0;
}

void told_take(u64 until, const struct told *list)
{
	if (list->until != until || list->count > TOLD_MAX || list->since > until) {
		take_from(until, until);
		return;
	}
	take_from(until, list->since);
	for (; taken.count < list->count; taken.count++) {
		const struct told_event *one = &list->events[taken.count];

		taken.events[taken.count] = (struct stamped){ one->identity, until - one->ahead_ns };
	}
}

/* Lines of which a kill let only a part be written count as not written. Places given to events that did not come to be told
 * had held older ones, which were. */
void told_take_live(const struct told *list, const struct told_live *how_far, u64 size)
{
	bool is_whole = how_far->noted > how_far->written && how_far->size == size;
	u64 told = is_whole ? how_far->noted : how_far->written;
	u64 gone = how_far->noted > TOLD_MAX ? how_far->noted - TOLD_MAX : 0;
	u64 until = is_whole ? how_far->until : list->until;

	if (told == 0 || how_far->noted < how_far->written)
		return;
	take_from(until, gone > told ? until + 1 : how_far->noted > how_far->written ? how_far->since : list->since);
	for (u64 i = gone; i < told; i++) {
		const struct told_event *one = &list->events[i % TOLD_MAX];
		u64 ago = (u32)((u32)(until / LIVE_STEP_NS) - one->steps) * LIVE_STEP_NS;

		if (ago <= until)
			taken.events[taken.count++] = (struct stamped){
				one->identity, until / LIVE_STEP_NS * LIVE_STEP_NS - ago,
			};
	}
}

/* The programs of the one before were attached first and so run first: what one thread does becomes two stamps, its own
 * and then this engine's, before the thread does the next. The last alike that is listed up to here is therefore this one,
 * however often the thread repeats itself. A later one is it only where the order is another, because the one before has
 * attached programs of a policy again meanwhile. */
static unsigned find(u32 identity, u64 time, bool also_later)
{
	unsigned found = NONE, later = NONE;

	for (unsigned i = 0; i < taken.count; i++) {
		const struct stamped *one = &taken.events[i];

		if (is_used[i] || one->identity != identity)
			continue;
		if (one->at <= time && time - one->at < TOLD_APART_NS &&
		    (found == NONE || one->at >= taken.events[found].at))
			found = i;
		if (one->at > time && one->at - time < TOLD_APART_NS &&
		    (later == NONE || one->at < taken.events[later].at))
			later = i;
	}
	return found == NONE && also_later ? later : found;
}

/* Not listed is what is older than the list and what the one before stamped after its end. Halfway between the two the
 * stamps of one event would have to be half the list apart to mislead. */
bool told_before(const struct event_head *event)
{
	bool is_earlier = event->time < taken.half;
	unsigned found;

	if (event->time >= taken.until + TOLD_APART_NS)
		return false;
	found = find(identity_of(event), event->time, !is_earlier);
	if (found == NONE)
		return is_earlier;
	is_used[found] = true;
	return true;
}
