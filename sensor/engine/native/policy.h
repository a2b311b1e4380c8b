/* A policy as the programs in the kernel read it, and what they tell of a match. Both sides are built from this file. */
#ifndef POLICY_H
#define POLICY_H

#include "events.h"

#define POLICIES_MAX 64
#define POLICY_COUNTERS_MAX (2 * POLICIES_MAX) /* those before may still count while new ones begin */
#define POLICY_RULES_MAX 16 /* hooks of all policies at one place */
#define POLICY_SELECTORS_MAX 5
#define POLICY_ARGS_MAX 5
#define POLICY_PIDS_MAX 4
#define POLICY_CAPS_MAX 4
#define POLICY_VALUES_MAX 4
#define POLICY_MATCH_VALUES_MAX 8
#define POLICY_MATCHES_MAX 5
#define POLICY_TEXT_BYTES 256
#define POLICY_TEXT_WORDS (POLICY_TEXT_BYTES / 8)
#define POLICY_BYTES_MAX 1024   /* kept of a buffer */
#define POLICY_DATA_BYTES (6 * PATH_MAX_BYTES) /* one text for each slot; with the rest it fits a per-CPU value */
#define POLICY_PARTS_MAX 1024   /* two generations side by side */
/* The executable of the task stands behind the arguments, as one text more to match. */
#define POLICY_BINARY_SLOT POLICY_ARGS_MAX
#define POLICY_SLOTS (POLICY_ARGS_MAX + 1)

enum policy_place { POLICY_ENTER = 1, POLICY_EXIT, POLICY_TRACEPOINT, POLICY_LSM };
#define POLICY_PLACE_SHIFT 24
enum policy_lsm { POLICY_LSM_FILE_OPEN = 1, POLICY_LSM_BPRM_CHECK };

/* One selector of one rule at one place. A generation is never changed once it is current. */
struct policy_key {
	u32 generation;
	u32 place;
	u16 ordinal;
	u16 selector;
};

enum policy_type {
	POLICY_NUMBER = 1,
	POLICY_FD,          /* the path of the open file behind a descriptor */
	POLICY_USER_TEXT,
	POLICY_USER_BYTES,
	POLICY_FILE,        /* struct file of the kernel */
	POLICY_BINPRM,      /* struct linux_binprm */
	POLICY_PATH,        /* struct path */
	POLICY_KERNEL_TEXT, /* inside the record itself */
	POLICY_DATA_LOC,    /* where the record says */
	POLICY_KERNEL_POINTER, /* to a text of the kernel */
};

struct policy_arg {
	u32 type;
	u32 offset; /* in the context */
	u32 size;
	u32 is_signed;
	u32 size_offset; /* of a buffer's length */
	u32 size_size;   /* its own bytes: of a register the caller chooses the rest */
};

enum policy_op { POLICY_EQUAL = 1, POLICY_PREFIX, POLICY_POSTFIX, POLICY_ABOVE, POLICY_BELOW, POLICY_MASK, POLICY_RANGE };

/* A text, filled with zeros; of a number the first word, of a range the first two. */
struct policy_value {
	u32 len;
	u32 pad;
	u64 words[POLICY_TEXT_WORDS];
};

struct policy_match {
	u32 slot;
	u32 op;
	u32 is_not;
	u32 count;
	struct policy_value values[POLICY_MATCH_VALUES_MAX];
};

struct policy_namespaces {
	u32 kind;
	u32 is_not;
	u32 count;
	u32 values[POLICY_VALUES_MAX];
};

enum policy_caps_set { POLICY_EFFECTIVE, POLICY_PERMITTED, POLICY_INHERITABLE };

struct policy_caps {
	u32 set;
	u32 is_not;
	u64 mask;
};

struct policy_part {
	u32 rule;   /* which hook of which policy, for the reader of the ring */
	u32 policy; /* whose counters */
	u32 args_count, pids_count, namespaces_count, caps_count, matches_count;
	u32 pids_is_not, pids_in_namespace;
	u32 is_silent;
	u32 signal;   /* 0 = none */
	s32 refusal;  /* a negative errno to answer with, 0 = none */
	u32 monitors; /* counts what it would have done instead of doing it */
	u32 pad;
	u32 pids[POLICY_PIDS_MAX];
	struct policy_arg args[POLICY_ARGS_MAX];
	struct policy_namespaces namespaces[NS_KINDS];
	struct policy_caps caps[POLICY_CAPS_MAX];
	struct policy_match matches[POLICY_MATCHES_MAX + 1]; /* one more for the binaries */
};

struct policy_stats {
	u64 matched;
	u64 signals;
	u64 signals_failed;
	u64 refusals;
	u64 monitored_signals;
	u64 monitored_refusals;
};

/* `at` and `len` of a text in `data`; the number otherwise. */
struct policy_argument {
	u64 number;
	u32 at;
	u32 len;
};

struct event_policy {
	struct event_head head;
	u32 rule;
	u32 signal;
	s32 refusal;
	u32 monitors;
	u32 args_count;
	u32 pad;
	struct policy_argument args[POLICY_ARGS_MAX];
	char data[];
};

#endif
