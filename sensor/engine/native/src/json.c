#include "json.h"
#include <string.h>

void put_bytes(struct text *to, const char *bytes, size_t len)
{
	if ((size_t)(to->end - to->at) < len) {
		to->full = 1;
		return;
	}
	memcpy(to->at, bytes, len);
	to->at += len;
}

void put(struct text *to, const char *literal)
{
	put_bytes(to, literal, strlen(literal));
}

void put_number(struct text *to, uint64_t value)
{
	char digits[20];
	int at = sizeof(digits);

	do {
		digits[--at] = '0' + value % 10;
		value /= 10;
	} while (value);
	put_bytes(to, digits + at, sizeof(digits) - at);
}

void put_signed(struct text *to, int64_t value)
{
	if (value < 0)
		put(to, "-");
	put_number(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* How many bytes the UTF-8 character here has, 0 when it is none: overlong forms and surrogates are none. */
static size_t character(const unsigned char *at, size_t left)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t size;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	size = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (left < size)
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

static void put_special(struct text *to, unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";
	char escaped[6] = { '\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15] };

	switch (byte) {
	case '"': put(to, "\\\""); return;
	case '\\': put(to, "\\\\"); return;
	case '\n': put(to, "\\n"); return;
	case '\r': put(to, "\\r"); return;
	case '\t': put(to, "\\t"); return;
	default: put_bytes(to, escaped, sizeof(escaped));
	}
}

void put_escaped(struct text *to, const char *bytes, size_t len)
{
	const unsigned char *from = (const unsigned char *)bytes;
	size_t at = 0, plain = 0;

	while (at < len) {
		size_t size = character(from + at, len - at);
		int special = size == 1 && (from[at] < 0x20 || from[at] == '"' || from[at] == '\\');

		if (size > 0 && !special) {
			at += size;
			continue;
		}
		put_bytes(to, bytes + plain, at - plain);
		if (size == 0)
			put(to, "\xef\xbf\xbd");
		else
			put_special(to, from[at]);
		at += 1;
		plain = at;
	}
	put_bytes(to, bytes + plain, at - plain);
}

void put_string(struct text *to, const char *bytes, size_t len)
{
	put(to, "\"");
	put_escaped(to, bytes, len);
	put(to, "\"");
}

void put_base64(struct text *to, const char *bytes, size_t len)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t at = 0; at < len; at += 3) {
		const unsigned char *from = (const unsigned char *)bytes + at;
		size_t left = len - at;
		uint32_t word = from[0] << 16 | (left > 1 ? from[1] << 8 : 0) | (left > 2 ? from[2] : 0);
		char four[4] = { digit[word >> 18], digit[word >> 12 & 63], left > 1 ? digit[word >> 6 & 63] : '=',
				 left > 2 ? digit[word & 63] : '=' };

		put_bytes(to, four, sizeof(four));
	}
}
