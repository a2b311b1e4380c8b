#include "dns.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "kernel-names.h"

#define HEADER_BYTES 12
#define NAME_BYTES 255
#define JUMPS_MAX 16
#define ANSWERS_MAX 16
#define TYPE_A 1
#define TYPE_AAAA 28

struct message {
	const u8 *bytes;
	size_t len;
};

static unsigned word(const struct message *from, size_t at)
{
	return from->bytes[at] << 8 | from->bytes[at + 1];
}

/* Reads a name with its dots; answers where the message goes on, 0 when it is broken. */
static size_t read_name(const struct message *from, size_t at, char *to, size_t *name_len)
{
	size_t after = 0, len = 0;
	int jumps = 0;

	for (;;) {
		unsigned size;

		if (at >= from->len)
			return 0;
		size = from->bytes[at];
		if ((size & 0xc0) == 0xc0) {
			if (at + 1 >= from->len || ++jumps > JUMPS_MAX)
				return 0;
			if (!after)
				after = at + 2;
			at = (size & 0x3f) << 8 | from->bytes[at + 1];
			continue;
		}
		at += 1;
		if (size == 0)
			break;
		if (size > 63 || at + size > from->len || len + size + 1 > NAME_BYTES)
			return 0;
		memcpy(to + len, from->bytes + at, size);
		len += size;
		to[len++] = '.';
		at += size;
	}
	if (len == 0)
		to[len++] = '.';
	*name_len = len;
	return after ? after : at;
}

static void put_type(struct text *to, unsigned type)
{
	static const struct { unsigned type; const char *name; } types[] = {
		{ 1, "A" }, { 2, "NS" }, { 5, "CNAME" }, { 6, "SOA" }, { 12, "PTR" }, { 15, "MX" }, { 16, "TXT" },
		{ 28, "AAAA" }, { 33, "SRV" }, { 35, "NAPTR" }, { 64, "SVCB" }, { 65, "HTTPS" }, { 255, "ANY" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type) {
			put(to, types[i].name);
			return;
		}
	put(to, "TYPE");
	put_number(to, type);
}

static void put_answers(struct text *to, const struct message *from, size_t at, unsigned answers)
{
	char name[NAME_BYTES + 1];
	size_t name_len;

	for (unsigned i = 0; i < answers && i < ANSWERS_MAX; i++) {
		unsigned type, size;

		at = read_name(from, at, name, &name_len);
		if (at == 0 || at + 10 > from->len)
			return;
		type = word(from, at);
		size = word(from, at + 8);
		at += 10;
		if (at + size > from->len)
			return;
		if ((type == TYPE_A && size == 4) || (type == TYPE_AAAA && size == 16)) {
			put(to, ",{\"string_arg\":");
			put_address(to, type == TYPE_A ? AF_INET : AF_INET6, from->bytes + at);
			put(to, ",\"label\":\"dns_address\"}");
		}
		at += size;
	}
}

int put_dns_arguments(struct text *to, const u8 *bytes, size_t len, int is_answer)
{
	struct message message = { bytes, len };
	char name[NAME_BYTES + 1];
	size_t at, name_len;
	unsigned flags;

	if (len < HEADER_BYTES || word(&message, 4) != 1)
		return 0;
	flags = word(&message, 2);
	if ((flags >> 15) != (unsigned)is_answer)
		return 0;
	at = read_name(&message, HEADER_BYTES, name, &name_len);
	if (at == 0 || at + 4 > len)
		return 0;
	put(to, ",{\"string_arg\":");
	/* Without the root's dot, which nobody writes. */
	put_string(to, name, name_len > 1 ? name_len - 1 : name_len);
	put(to, ",\"label\":\"dns_name\"},{\"string_arg\":\"");
	put_type(to, word(&message, at));
	put(to, "\",\"label\":\"dns_type\"},{\"uint_arg\":");
	put_number(to, word(&message, 0));
	put(to, ",\"label\":\"dns_id\"}");
	if (is_answer) {
		put(to, ",{\"int_arg\":");
		put_number(to, flags & 15);
		put(to, ",\"label\":\"dns_code\"}");
		put_answers(to, &message, at + 4, word(&message, 6));
	}
	return 1;
}
