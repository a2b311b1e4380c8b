/* What the readers of the file's lines share. Each takes the words of one line and answers 0, or -1 for a line that is none. */
#ifndef POLICY_TOKENS_H
#define POLICY_TOKENS_H

#include "policy-file.h"

struct reader {
	struct policy *first, *policy;
	struct policy_hook *hook;
	struct policy_part *part;
	unsigned policies;
	bool ended;
};

/* Undoes %XX in place; the length, or -1. */
int word_decode(char *word);
/* Copies a decoded text that fits; 0 or -1. */
int word_copy(char *to, size_t size, char *word);
int word_number(const char *word, u64 *to);
int word_u32(const char *word, u32 *to);

int read_selector(struct reader *at, char **words, int count);
int read_pids(struct reader *at, char **words, int count);
int read_namespaces(struct reader *at, char **words, int count);
int read_caps(struct reader *at, char **words, int count);
int read_match(struct reader *at, char **words, int count);
int read_act(struct reader *at, char **words, int count);

#endif
