/* Writes JSON into memory that is given: no allocation, no overflow. Text from the node is escaped, and bytes that are
 * not UTF-8 become U+FFFD, so that one line stays one line whatever a process calls itself. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *at;
	char *end;
	int full; /* something did not fit: what was written is not to be used */
};

void put_bytes(struct text *to, const char *bytes, size_t len);
void put(struct text *to, const char *literal);
void put_number(struct text *to, uint64_t value);
void put_signed(struct text *to, int64_t value);
/* A JSON string with its quotes. */
void put_string(struct text *to, const char *bytes, size_t len);
/* Only what stands between the quotes. */
void put_escaped(struct text *to, const char *bytes, size_t len);
void put_base64(struct text *to, const char *bytes, size_t len);

#endif
