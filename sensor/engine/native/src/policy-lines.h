/* A policy's match as an export line. */
#ifndef POLICY_LINES_H
#define POLICY_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include "../policy.h"

/* Whether it was told: a record that is torn, or of a policy nobody knows, is not. */
bool tell_policy(const struct event_policy *event, size_t size);

#endif
