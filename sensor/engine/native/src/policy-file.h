/* The file of compiled policies: one word after another, a line for each thing, texts with %XX for what is not plain. */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include "../policy.h"

#define POLICY_HOOKS_MAX 16
#define POLICY_TAGS_MAX 16
#define POLICY_NAME_CHARS 64
#define POLICY_WORD_CHARS 256

/* How an argument is written in a line. */
enum policy_shape { SHAPE_AUTO, SHAPE_NUMBER, SHAPE_FILE, SHAPE_TEXT, SHAPE_BYTES, SHAPE_BINPRM, SHAPE_PATH, SHAPE_FD };

struct policy_input {
	u32 index;
	s32 size_index; /* of a buffer's length; -1 = none */
	enum policy_shape shape;
	char key[24]; /* "int_arg", at most "linux_binprm_arg" */
	char label[POLICY_WORD_CHARS];
};

struct policy_hook {
	enum policy_place kind;
	char category[POLICY_NAME_CHARS];
	char event[POLICY_NAME_CHARS];
	char message[POLICY_WORD_CHARS * 4];
	char *tags[POLICY_TAGS_MAX];
	unsigned tags_count;
	struct policy_input inputs[POLICY_ARGS_MAX];
	unsigned inputs_count;
	struct policy_part parts[POLICY_SELECTORS_MAX]; /* their arguments are completed where the kernel's format is known */
	unsigned parts_count;
	u32 rule;
	u32 place;
};

struct policy {
	struct policy *next;
	char name[POLICY_NAME_CHARS];
	char digest[72];
	bool monitors;
	struct policy_hook *hooks[POLICY_HOOKS_MAX];
	unsigned hooks_count;
	u32 slot;
	char reason[512]; /* why it, or its newer version, is not in force */
};

/* Reads the whole file: 0, the policies in their order and the number the file calls itself by; or a negative errno and a
 * reason. The file has to be this user's and nobody else's to read or write. */
int policy_file_read(const char *path, struct policy **first, u64 *revision, char *reason, size_t size);
void policy_free(struct policy *policy);

#endif
