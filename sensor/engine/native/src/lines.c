#include "lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cgroups.h"
#include "clock.h"
#include "dns.h"
#include "export.h"
#include "handover-events.h"
#include "kernel-names.h"
#include "policy-lines.h"
#include "process-identity.h"
#include "procfs.h"
#include "unwatched.h"

#define AF_INET 2
#define AF_INET6 10
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define SIGNAL_MASK 0x7f

static char node_json[2048];
static u64 malformed;

void lines_init(const char *node_name)
{
	struct text to = { node_json, node_json + sizeof(node_json) - 1, 0 };

	put(&to, "},\"node_name\":");
	put_string(&to, node_name, strlen(node_name));
	put(&to, ",\"time\":");
	*to.at = 0;
	processes_init(node_name);
}

u64 lines_malformed(void)
{
	return malformed;
}

static struct text *begin(const char *kind)
{
	struct text *to = export_line();

	put(to, "{\"");
	put(to, kind);
	put(to, "\":{");
	return to;
}

static void end(struct text *to, u64 time)
{
	put(to, node_json);
	put_time(to, time);
	put(to, "}");
	export_end_line();
}

struct text *line_begin(const char *kind)
{
	return begin(kind);
}

void line_end(struct text *to, u64 time)
{
	end(to, time);
}

static struct text *begin_hook(const struct process *process, const char *function, bool whole)
{
	struct text *to = begin("process_kprobe");

	put_lineage(to, process, whole);
	put(to, ",\"function_name\":\"");
	put(to, function);
	put(to, "\",\"args\":[");
	return to;
}

static void end_hook(struct text *to, u64 time)
{
	put(to, "],\"action\":\"KPROBE_ACTION_POST\"");
	end(to, time);
}

static void tell_process(const struct process *process, u64 time)
{
	struct text *to = begin("process_exec");

	put_lineage(to, process, true);
	end(to, time);
}

void tell_existing(struct process *process, u64 time)
{
	tell_process(process, time);
}

void tell_lost(u64 lost, u64 in_kernel, bool with_gap)
{
	struct text *to = begin("rate_limit_info");

	put(to, "\"number_of_dropped_process_events\":\"");
	put_number(to, lost);
	put(to, "\",\"number_of_kernel_dropped_events\":\"");
	put_number(to, in_kernel);
	put(to, "\"");
	if (with_gap)
		put_unwatched(to);
	end(to, boot_ns());
}

static void tell_creds(const struct process *process, const char *function, u64 time)
{
	struct text *to = begin_hook(process, function, false);

	put(to, "{\"process_credentials_arg\":");
	put_credentials(to, &process->creds);
	put(to, "}");
	end_hook(to, time);
}

/* A set-user-id program, file capabilities: credentials that an exec raised. */
static bool is_raised(const struct creds *before, const struct creds *now)
{
	return now->euid != before->euid || now->egid != before->egid || (now->permitted & ~before->permitted);
}

static void handle_exec(const struct event_exec *event)
{
	struct creds before;
	bool known = false;
	struct process *process = who_executed(event, &before, &known);

	tell_process(process, event->head.time);
	if (known && is_raised(&before, &process->creds))
		tell_creds(process, "commit_creds", event->head.time);
}

static void handle_exit(const struct event_exit *event)
{
	struct process *process = who(&event->head);
	struct text *to;

	if (process_has_ended(process))
		return;
	to = begin("process_exit");
	put_lineage(to, process, false);
	if (event->code & SIGNAL_MASK) {
		put(to, ",\"signal\":");
		put_signal(to, event->code & SIGNAL_MASK);
	}
	if (event->code >> 8 & 0xff) {
		put(to, ",\"status\":");
		put_number(to, event->code >> 8 & 0xff);
	}
	put(to, ",\"time\":");
	put_time(to, event->head.time);
	end(to, event->head.time);
	process_end(process);
}

static void put_sock(struct text *to, const struct sock_facts *sock)
{
	static const char *const states[] = { "", "TCP_ESTABLISHED", "TCP_SYN_SENT", "", "", "", "", "TCP_CLOSE", "", "",
					      "TCP_LISTEN" };
	u16 family = sock->family == AF_INET6 ? AF_INET6 : AF_INET;

	put(to, "{\"sock_arg\":{\"family\":\"AF_INET");
	put(to, family == AF_INET6 ? "6\"" : "\"");
	put(to, ",\"type\":\"");
	put(to, sock->type == 1 ? "SOCK_STREAM" : sock->type == 2 ? "SOCK_DGRAM" : "SOCK_RAW");
	put(to, "\",\"protocol\":\"IPPROTO_");
	if (sock->protocol == PROTOCOL_TCP || sock->protocol == PROTOCOL_UDP)
		put(to, sock->protocol == PROTOCOL_TCP ? "TCP" : "UDP");
	else
		put_number(to, sock->protocol);
	put(to, "\",\"saddr\":");
	put_address(to, family, sock->saddr);
	put(to, ",\"daddr\":");
	put_address(to, family, sock->daddr);
	if (sock->sport) {
		put(to, ",\"sport\":");
		put_number(to, sock->sport);
	}
	if (sock->dport) {
		put(to, ",\"dport\":");
		put_number(to, sock->dport);
	}
	if (sock->cookie) {
		put(to, ",\"cookie\":\"");
		put_number(to, sock->cookie);
		put(to, "\"");
	}
	if (sock->state < sizeof(states) / sizeof(states[0]) && states[sock->state][0]) {
		put(to, ",\"state\":\"");
		put(to, states[sock->state]);
		put(to, "\"");
	}
	put(to, "},\"label\":\"sock\"}");
}

static void handle_sock(const struct event_sock *event)
{
	const char *function = event->op == SOCK_ACCEPT ? "inet_csk_accept" :
			       event->op == SOCK_LISTEN ? "inet_csk_listen_start" :
			       event->op == SOCK_CLOSE ? "tcp_close" :
			       event->sock.protocol == PROTOCOL_TCP ? "tcp_connect" : "__x64_sys_connect";
	struct text *to = begin_hook(who(&event->head), function, false);

	put_sock(to, &event->sock);
	end_hook(to, event->head.time);
}

static void handle_open(const struct event_open *event)
{
	struct text *to = begin_hook(who(&event->head), "security_file_open", false);

	put(to, "{\"file_arg\":{\"path\":");
	put_string(to, event->path, event->path_len);
	put(to, ",\"flags\":");
	put_open_flags(to, event->flags);
	put(to, ",\"permission\":");
	put_mode(to, event->mode);
	put(to, "}}");
	end_hook(to, event->head.time);
}

static void handle_cred(const struct event_cred *event)
{
	struct process *process = who(&event->head);
	bool same = process->has_creds && !memcmp(&process->creds, &event->creds, sizeof(event->creds)) &&
		    process->has_ns && !memcmp(process->ns, event->ns, sizeof(event->ns));
	char function[64];

	/* Each thread asks for itself, and many ask for what they are already. */
	if (same)
		return;
	process->creds = event->creds;
	process->uid = event->creds.uid;
	process->has_creds = process->has_ns = true;
	memcpy(process->ns, event->ns, sizeof(event->ns));
	snprintf(function, sizeof(function), "__x64_sys_%s", syscall_name(event->syscall));
	tell_creds(process, function, event->head.time);
}

static void handle_ptrace(const struct event_ptrace *event)
{
	struct text *to = begin_hook(who(&event->head), "__x64_sys_ptrace", false);

	put(to, "{\"string_arg\":\"");
	put(to, ptrace_name(event->request));
	put(to, "\",\"label\":\"request\"},{\"int_arg\":");
	put_number(to, event->target);
	put(to, ",\"label\":\"pid\"}");
	end_hook(to, event->head.time);
}

static void put_bpf_text(struct text *to, const struct event_bpf *event)
{
	put_string(to, event->text, strnlen(event->text, sizeof(event->text)));
}

static void handle_bpf(const struct event_bpf *event)
{
	bool loads = event->command == BPF_COMMAND_PROG_LOAD;
	struct text *to = begin_hook(who(&event->head), loads ? "bpf_prog_load" : "__x64_sys_bpf", false);

	put(to, "{\"bpf_cmd_arg\":\"");
	put_bpf_command(to, event->command);
	put(to, "\",\"label\":\"command\"}");
	if (loads) {
		put(to, ",{\"bpf_attr_arg\":{\"ProgType\":");
		put_bpf_program_type(to, event->type);
		put(to, ",\"InsnCnt\":");
		put_number(to, event->count);
		put(to, ",\"ProgName\":");
		put_bpf_text(to, event);
		put(to, "}}");
	} else if (event->command == BPF_COMMAND_MAP_CREATE) {
		put(to, ",{\"bpf_map_arg\":{\"MaxEntries\":");
		put_number(to, event->count);
		put(to, ",\"MapName\":");
		put_bpf_text(to, event);
		put(to, "}}");
	} else if (event->text[0]) {
		put(to, ",{\"string_arg\":");
		put_bpf_text(to, event);
		put(to, ",\"label\":\"path\"}");
	}
	end_hook(to, event->head.time);
}

static void handle_module(const struct event_module *event)
{
	char function[64];
	struct text *to;

	if (event->syscall == SYSCALL_NONE)
		strcpy(function, "module_load");
	else
		snprintf(function, sizeof(function), "__x64_sys_%s", syscall_name(event->syscall));
	to = begin_hook(who(&event->head), function, false);
	if (event->syscall == SYSCALL_NONE) {
		put(to, "{\"module_arg\":{\"name\":");
		put_string(to, event->path, event->path_len);
		put(to, "}}");
	} else if (event->path_len > 0) {
		put(to, "{\"file_arg\":{\"path\":");
		put_string(to, event->path, event->path_len);
		put(to, "}}");
	} else {
		put(to, "{\"size_arg\":\"");
		put_number(to, event->length);
		put(to, "\",\"label\":\"length\"}");
	}
	end_hook(to, event->head.time);
}

static void handle_dns(const struct event_dns *event)
{
	struct text *to = begin_hook(who(&event->head), event->answers ? "udp_recvmsg" : "udp_sendmsg", false);
	struct sock_facts sock = event->sock;

	/* A socket speaks of its own side first, whichever way the packet went. */
	if (event->answers) {
		sock.sport = event->sock.dport;
		sock.dport = event->sock.sport;
		memcpy(sock.saddr, event->sock.daddr, sizeof(sock.saddr));
		memcpy(sock.daddr, event->sock.saddr, sizeof(sock.daddr));
	}
	put_sock(to, &sock);
	put_dns_arguments(to, event->payload, event->len, event->answers);
	end_hook(to, event->head.time);
}

static size_t exec_size(const struct event_exec *event)
{
	return sizeof(*event) + event->filename_len + event->file_len + event->cwd_len + event->args_len +
	       event->cgroup_len;
}

static const size_t SIZES[EVENT_KINDS] = {
	[EVENT_EXEC] = sizeof(struct event_exec), [EVENT_FORK] = sizeof(struct event_fork),
	[EVENT_EXIT] = sizeof(struct event_exit), [EVENT_SOCK] = sizeof(struct event_sock),
	[EVENT_OPEN] = sizeof(struct event_open), [EVENT_CRED] = sizeof(struct event_cred),
	[EVENT_PTRACE] = sizeof(struct event_ptrace), [EVENT_BPF] = sizeof(struct event_bpf),
	[EVENT_MODULE] = sizeof(struct event_module), [EVENT_DNS] = sizeof(struct event_dns),
	[EVENT_POLICY] = sizeof(struct event_policy),
};

/* The texts of an exec go into buffers of their longest. */
static bool is_whole_exec(const struct event_exec *event, size_t size)
{
	return event->filename_len <= PATH_MAX_BYTES && event->file_len <= PATH_MAX_BYTES &&
	       event->cwd_len <= PATH_MAX_BYTES && event->args_len <= ARGS_MAX_BYTES && size >= exec_size(event);
}

static bool is_whole(const struct event_head *head, size_t size)
{
	if (size < sizeof(*head) || head->kind == 0 || head->kind >= EVENT_KINDS || size < SIZES[head->kind])
		return false;
	if (head->kind == EVENT_EXEC)
		return is_whole_exec((const void *)head, size);
	if (head->kind == EVENT_OPEN)
		return size >= sizeof(struct event_open) + ((const struct event_open *)head)->path_len;
	if (head->kind == EVENT_MODULE)
		return size >= sizeof(struct event_module) + ((const struct event_module *)head)->path_len;
	return head->kind != EVENT_DNS || ((const struct event_dns *)head)->len <= DNS_BYTES;
}

void tell_event(const void *record, size_t size)
{
	const struct event_head *head = record;

	if (!is_whole(head, size)) {
		malformed += 1;
		return;
	}
	export_mute(told_before(head));
	switch (head->kind) {
	case EVENT_EXEC: handle_exec(record); break;
	case EVENT_FORK: who_forked(record); break;
	case EVENT_EXIT: handle_exit(record); break;
	case EVENT_SOCK: handle_sock(record); break;
	case EVENT_OPEN: handle_open(record); break;
	case EVENT_CRED: handle_cred(record); break;
	case EVENT_PTRACE: handle_ptrace(record); break;
	case EVENT_BPF: handle_bpf(record); break;
	case EVENT_MODULE: handle_module(record); break;
	case EVENT_DNS: handle_dns(record); break;
	case EVENT_POLICY: malformed += !tell_policy(record, size); break;
	}
	export_mute(0);
	told_note(head);
}
