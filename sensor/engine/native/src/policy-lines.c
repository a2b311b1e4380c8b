/* A policy's match as an export line. */
#include "policy-lines.h"
#include <stdio.h>
#include <string.h>
#include "kernel-names.h"
#include "lines.h"
#include "policies.h"
#include "process-identity.h"

#define SIGKILL_NUMBER 9

static void put_text_of(struct text *to, const struct event_policy *event, const struct policy_argument *arg)
{
	put_string(to, event->data + arg->at, arg->len);
}

static void put_value(struct text *to, const struct event_policy *event, unsigned i, const struct policy_input *input)
{
	const struct policy_argument *arg = &event->args[i];

	switch (input->shape) {
	case SHAPE_FD:
	case SHAPE_FILE:
	case SHAPE_PATH:
	case SHAPE_BINPRM:
		put(to, "{\"path\":");
		put_text_of(to, event, arg);
		put(to, "}");
		break;
	case SHAPE_TEXT:
		put_text_of(to, event, arg);
		break;
	case SHAPE_BYTES:
		put(to, "\"");
		put_base64(to, event->data + arg->at, arg->len);
		put(to, "\"");
		break;
	default:
		/* 64 bits are strings in this format. */
		if (input->key[0] == 'l' || input->key[0] == 's') {
			put(to, "\"");
			if (input->key[0] == 'l')
				put_signed(to, (int64_t)arg->number);
			else
				put_number(to, arg->number);
			put(to, "\"");
		} else {
			put_signed(to, (int64_t)arg->number);
		}
	}
}

static void put_arguments(struct text *to, const struct event_policy *event, const struct policy_hook *hook)
{
	put(to, ",\"args\":[");
	for (unsigned i = 0; i < hook->inputs_count && i < event->args_count; i++) {
		const struct policy_input *input = &hook->inputs[i];

		put(to, i ? ",{\"" : "{\"");
		put(to, input->key);
		put(to, "\":");
		put_value(to, event, i, input);
		if (input->label[0]) {
			put(to, ",\"label\":");
			put_string(to, input->label, strlen(input->label));
		}
		put(to, "}");
	}
	put(to, "]");
}

static void put_tag(struct text *to, unsigned *count, const char *tag)
{
	put(to, (*count)++ ? "," : ",\"tags\":[");
	put_string(to, tag, strlen(tag));
}

/* What a policy that only monitors would have done stands among the tags: the action is what was done. */
static void put_tags(struct text *to, const struct event_policy *event, const struct policy_hook *hook)
{
	unsigned count = 0;

	for (unsigned i = 0; i < hook->tags_count; i++)
		put_tag(to, &count, hook->tags[i]);
	if (event->monitors && event->signal)
		put_tag(to, &count, event->signal == SIGKILL_NUMBER ? "monitored.sigkill" : "monitored.signal");
	if (event->monitors && event->refusal)
		put_tag(to, &count, "monitored.override");
	if (count)
		put(to, "]");
}

static const char *action_of(const struct event_policy *event)
{
	if (event->monitors)
		return "KPROBE_ACTION_POST";
	if (event->signal)
		return event->signal == SIGKILL_NUMBER ? "KPROBE_ACTION_SIGKILL" : "KPROBE_ACTION_SIGNAL";
	return event->refusal ? "KPROBE_ACTION_OVERRIDE" : "KPROBE_ACTION_POST";
}

static bool is_whole(const struct event_policy *event, size_t size)
{
	size_t data = size - sizeof(*event);

	if (size < sizeof(*event) || event->args_count > POLICY_ARGS_MAX)
		return false;
	for (unsigned i = 0; i < event->args_count; i++)
		if (event->args[i].len > data || event->args[i].at > data - event->args[i].len)
			return false;
	return true;
}

bool tell_policy(const struct event_policy *event, size_t size)
{
	const struct policy *policy = 0;
	const struct policy_hook *hook;
	struct text *to;

	if (!is_whole(event, size))
		return false;
	hook = policies_rule(event->rule, &policy);
	if (!hook)
		return false;
	to = line_begin(hook->kind == POLICY_ENTER ? "process_kprobe" :
			hook->kind == POLICY_LSM   ? "process_lsm" : "process_tracepoint");
	put_lineage(to, who(&event->head), false);
	if (hook->kind == POLICY_TRACEPOINT) {
		put(to, ",\"subsys\":");
		put_string(to, hook->category, strlen(hook->category));
		put(to, ",\"event\":");
	} else {
		put(to, ",\"function_name\":");
	}
	if (hook->kind == POLICY_ENTER) {
		put(to, "\"__x64_sys_");
		put_escaped(to, hook->event, strlen(hook->event));
		put(to, "\"");
	} else {
		put_string(to, hook->event, strlen(hook->event));
	}
	put_arguments(to, event, hook);
	put(to, ",\"action\":\"");
	put(to, action_of(event));
	put(to, "\",\"policy_name\":");
	put_string(to, policy->name, strlen(policy->name));
	if (hook->message[0]) {
		put(to, ",\"message\":");
		put_string(to, hook->message, strlen(hook->message));
	}
	put_tags(to, event, hook);
	line_end(to, event->head.time);
	return true;
}
