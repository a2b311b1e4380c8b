/* TCP connections: who connects, listens and accepts, and when a connection ends. */
#ifndef SOCKETS_H
#define SOCKETS_H

#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define SOCKETS_MAX 16384

/* None of these maps drops what was put in before, so that nothing is lost unseen: each entry is taken out again by what
 * ends it, and one that finds no room is told at once or counted. */

/* A connect whose source port was not chosen yet when its socket changed state, by socket. The engine takes out what nobody
 * came back for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SOCKETS_MAX);
	__type(key, u64);
	__type(value, struct event_sock);
} connecting SEC(".maps");

/* Who opened a connection, so that its end, which the kernel often meets in an interrupt, has a process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SOCKETS_MAX);
	__type(key, u64);
	__type(value, struct event_head);
} owners SEC(".maps");

/* How many connects wait for their port: the engine looks into the map only then. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} connects SEC(".maps");

static __always_inline void fill_sock(struct sock_facts *to, struct sock *sock)
{
	to->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	to->protocol = BPF_CORE_READ(sock, sk_protocol);
	to->type = BPF_CORE_READ(sock, sk_type);
	to->sport = BPF_CORE_READ(sock, __sk_common.skc_num);
	to->dport = bpf_ntohs(BPF_CORE_READ(sock, __sk_common.skc_dport));
	to->cookie = BPF_CORE_READ(sock, __sk_common.skc_cookie.counter);
	to->netns = BPF_CORE_READ(sock, __sk_common.skc_net.net, ns.inum);
	if (to->family == AF_INET6) {
		BPF_CORE_READ_INTO(&to->saddr, sock, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&to->daddr, sock, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
	} else {
		u32 saddr = BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr);
		u32 daddr = BPF_CORE_READ(sock, __sk_common.skc_daddr);

		__builtin_memcpy(to->saddr, &saddr, sizeof(saddr));
		__builtin_memcpy(to->daddr, &daddr, sizeof(daddr));
	}
}

static __always_inline void add_connects(s64 more)
{
	u32 zero = 0;
	u64 *waiting = bpf_map_lookup_elem(&connects, &zero);

	if (waiting)
		__sync_fetch_and_add(waiting, more);
}

/* Tells a connect that waited, with the source port its socket has by now. */
static __always_inline void tell_connect(struct sock *sock, s32 result)
{
	u64 key = (u64)sock;
	struct event_sock *waiting = bpf_map_lookup_elem(&connecting, &key);
	struct event_sock event;

	if (!waiting)
		return;
	event = *waiting;
	if (bpf_map_delete_elem(&connecting, &key))
		return;
	add_connects(-1);
	event.sock.sport = BPF_CORE_READ(sock, __sk_common.skc_num);
	event.result = result;
	u32 saddr = BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr);
	if (event.sock.family == AF_INET6)
		BPF_CORE_READ_INTO(&event.sock.saddr, sock, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
	else
		__builtin_memcpy(event.sock.saddr, &saddr, sizeof(saddr));
	put(&event, sizeof(event));
}

static __always_inline void tell_closed(struct sock *sock)
{
	u64 key = (u64)sock;
	struct event_head *owner = bpf_map_lookup_elem(&owners, &key);
	struct event_sock event = {};

	if (!owner)
		return;
	event.head = *owner;
	if (bpf_map_delete_elem(&owners, &key))
		return;
	event.head.time = bpf_ktime_get_boot_ns();
	event.op = SOCK_CLOSE;
	fill_sock(&event.sock, sock);
	/* A port that the kernel had chosen is given back by now; what it was still stands beside. */
	if (event.sock.sport == 0)
		event.sock.sport = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)sock, inet_sport));
	put(&event, sizeof(event));
}

static __always_inline void remember_owner(struct sock *sock, struct event_head *head)
{
	u64 key = (u64)sock;

	if (!settings.tell_close)
		return;
	if (bpf_map_update_elem(&owners, &key, head, BPF_ANY))
		count(COUNT_LOST);
	/* What ended before anyone had accepted it changes its state no more. */
	else if (BPF_CORE_READ(sock, __sk_common.skc_state) == TCP_CLOSE)
		tell_closed(sock);
}

SEC("raw_tp/inet_sock_set_state")
int on_sock_state(struct bpf_raw_tracepoint_args *context)
{
	struct sock *sock = (struct sock *)context->args[0];
	int from = context->args[1], to = context->args[2];
	struct event_sock event = {};
	u64 key = (u64)sock;

	if (from == TCP_SYN_SENT)
		tell_connect(sock, 0);
	if (to == TCP_CLOSE) {
		if (settings.tell_close)
			tell_closed(sock);
		return 0;
	}
	if (to != TCP_SYN_SENT && to != TCP_LISTEN)
		return 0;
	if (BPF_CORE_READ(sock, sk_protocol) != IPPROTO_TCP || !is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_SOCK);
	fill_sock(&event.sock, sock);
	event.sock.state = to;
	if (to == TCP_LISTEN) {
		event.op = SOCK_LISTEN;
		put(&event, sizeof(event));
		return 0;
	}
	event.op = SOCK_CONNECT;
	if (!bpf_map_update_elem(&connecting, &key, &event, BPF_ANY))
		add_connects(1);
	else
		put(&event, sizeof(event)); /* without its port rather than not at all */
	if (settings.tell_close && bpf_map_update_elem(&owners, &key, &event.head, BPF_ANY))
		count(COUNT_LOST);
	return 0;
}

static __always_inline struct sock *sock_of(s64 fd)
{
	struct file *file = file_of(fd);
	struct socket *socket = file ? BPF_CORE_READ(file, private_data) : 0;
	/* Only of a socket the mode says so; another file's private data is not one. */
	u16 mode = BPF_CORE_READ(file, f_inode, i_mode);

	return socket && (mode & 0170000) == 0140000 ? BPF_CORE_READ(socket, sk) : 0;
}

static __always_inline bool is_inet(struct sock *sock)
{
	u16 family = BPF_CORE_READ(sock, __sk_common.skc_family);

	return family == AF_INET || family == AF_INET6;
}

SEC("tp/syscalls/sys_enter_connect")
int on_enter_connect(struct trace_event_raw_sys_enter *context)
{
	u64 id = bpf_get_current_pid_tgid();
	s64 fd = (s32)context->args[0];

	if (bpf_map_update_elem(&connect_calls, &id, &fd, BPF_ANY))
		count(COUNT_LOST);
	return 0;
}

SEC("tp/syscalls/sys_exit_connect")
int on_exit_connect(struct trace_event_raw_sys_exit *context)
{
	u64 id = bpf_get_current_pid_tgid();
	s64 *fd = bpf_map_lookup_elem(&connect_calls, &id);
	struct sock *sock = fd ? sock_of(*fd) : 0;
	struct event_sock event = {};
	long result = context->ret;

	bpf_map_delete_elem(&connect_calls, &id);
	if (!sock || !is_inet(sock))
		return 0;
	if (BPF_CORE_READ(sock, sk_protocol) == IPPROTO_TCP) {
		tell_connect(sock, result);
		return 0;
	}
	/* Without a handshake nothing else tells of it. */
	if (result != 0 || !is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_SOCK);
	fill_sock(&event.sock, sock);
	event.op = SOCK_CONNECT;
	put(&event, sizeof(event));
	return 0;
}

/* accept and accept4: the new socket is the one behind the descriptor they return. */
SEC("tp")
int on_exit_accept(struct trace_event_raw_sys_exit *context)
{
	struct sock *sock = context->ret < 0 ? 0 : sock_of(context->ret);
	struct event_sock event = {};

	if (!sock || !is_inet(sock) || !is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_SOCK);
	fill_sock(&event.sock, sock);
	event.op = SOCK_ACCEPT;
	event.sock.state = TCP_ESTABLISHED;
	put(&event, sizeof(event));
	remember_owner(sock, &event.head);
	return 0;
}

#endif
