#include "policy-tokens.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int word_decode(char *word)
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

int word_copy(char *to, size_t size, char *word)
{
	int len = word_decode(word);

	if (len < 0 || (size_t)len >= size || strlen(word) != (size_t)len)
		return -1;
	memcpy(to, word, len + 1);
	return 0;
}

int word_number(const char *word, u64 *to)
{
	char *end;

	errno = 0;
	*to = word[0] == '-' ? (u64)strtoll(word, &end, 10) : strtoull(word, &end, 10);
	return word[0] && !*end && !errno ? 0 : -1;
}

int word_u32(const char *word, u32 *to)
{
	u64 number;

	if (word_number(word, &number) || number > 0xffffffff)
		return -1;
	*to = number;
	return 0;
}
