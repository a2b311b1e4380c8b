/* Reads a DNS message as far as it is needed: what was asked, and the addresses that were answered. */
#ifndef DNS_H
#define DNS_H

#include "../events.h"
#include "json.h"

/* Appends `,{..}` arguments: name, type, id, and of an answer its code and addresses. 0 when this is no DNS message. */
int put_dns_arguments(struct text *to, const u8 *message, size_t len, int is_answer);

#endif
