/* Names asked for and answered over UDP, seen where packets leave and reach a socket of any cgroup. */
#ifndef DNS_H
#define DNS_H

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define UDP_HEADER_BYTES 8
#define IP6_HEADER_BYTES 40

/* Who asked through a socket: an answer arrives in an interrupt that belongs to nobody. It is kept with the socket and ends
 * with it, so that it is never gone while an answer may come. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct event_head);
} askers SEC(".maps");

/* The answers of a socket whose asker finds no room are lost by that. */
static __always_inline void remember_asker(struct bpf_sock *socket, struct event_head *head)
{
	struct event_head *asker = bpf_sk_storage_get(&askers, socket, head, BPF_SK_STORAGE_GET_F_CREATE);

	if (!asker)
		count(COUNT_LOST);
	else if (asker->start != head->start || asker->tgid != head->tgid || asker->uid != head->uid ||
		 asker->cgroup != head->cgroup)
		*asker = *head;
}

static __always_inline bool is_dns_port(u16 port)
{
#pragma unroll
	for (int i = 0; i < DNS_PORTS_MAX; i++)
		if (i < settings.dns_ports && settings.dns_port[i] == port)
			return true;
	return false;
}

/* Reads the addresses; answers where the UDP header begins, or 0 when this is no whole UDP packet. */
static __always_inline u32 read_addresses(struct __sk_buff *packet, struct sock_facts *sock)
{
	u8 first = 0, protocol = 0;
	u16 fragment = 0;

	if (bpf_skb_load_bytes(packet, 0, &first, 1))
		return 0;
	sock->protocol = IPPROTO_UDP;
	sock->type = 2;
	if (first >> 4 == 4) {
		bpf_skb_load_bytes(packet, 9, &protocol, 1);
		if (protocol != IPPROTO_UDP)
			return 0;
		bpf_skb_load_bytes(packet, 6, &fragment, 2);
		if (bpf_ntohs(fragment) & 0x1fff)
			return 0;
		sock->family = AF_INET;
		bpf_skb_load_bytes(packet, 12, sock->saddr, 4);
		bpf_skb_load_bytes(packet, 16, sock->daddr, 4);
		return (first & 15) * 4;
	}
	bpf_skb_load_bytes(packet, 6, &protocol, 1);
	if (first >> 4 != 6 || protocol != IPPROTO_UDP)
		return 0;
	sock->family = AF_INET6;
	bpf_skb_load_bytes(packet, 8, sock->saddr, 16);
	bpf_skb_load_bytes(packet, 24, sock->daddr, 16);
	return IP6_HEADER_BYTES;
}

/* The payload as far as it is kept; its length. */
static __always_inline u32 read_payload(struct __sk_buff *packet, u32 at, u8 *to)
{
	u32 len = packet->len;

	if (len <= at)
		return 0;
	len -= at;
	if (len > DNS_BYTES)
		len = DNS_BYTES;
	/* The compiler is kept from proving this away: the verifier needs to see it. */
	asm volatile("" : "+r"(len));
	if (len == 0 || len > DNS_BYTES || bpf_skb_load_bytes(packet, at, to, len))
		return 0;
	return len;
}

static __always_inline void on_packet(struct __sk_buff *packet, bool leaves)
{
	struct event_dns *event;
	struct event_head *asker;
	struct sock_facts sock = {};
	u16 ports[2] = {};
	u32 udp = read_addresses(packet, &sock);
	struct bpf_sock *socket;

	if (udp == 0 || bpf_skb_load_bytes(packet, udp, ports, sizeof(ports)))
		return;
	sock.sport = bpf_ntohs(ports[0]);
	sock.dport = bpf_ntohs(ports[1]);
	if (!is_dns_port(leaves ? sock.dport : sock.sport))
		return;
	sock.cookie = bpf_get_socket_cookie(packet);
	socket = packet->sk ? bpf_sk_fullsock(packet->sk) : 0;
	asker = socket ? bpf_sk_storage_get(&askers, socket, 0, 0) : 0;
	/* An answer through a socket nobody was seen to ask through is nobody's: the filter has spoken already. */
	if (!leaves && !asker)
		return;
	if (leaves && !is_current_wanted())
		return;
	event = bpf_ringbuf_reserve(&ring, sizeof(*event), 0);
	if (!event) {
		count(COUNT_LOST);
		return;
	}
	if (leaves) {
		fill_head(&event->head, EVENT_DNS);
		if (socket)
			remember_asker(socket, &event->head);
		sock.netns = netns_of((struct task_struct *)bpf_get_current_task());
	} else if (asker) {
		event->head = *asker;
		event->head.time = bpf_ktime_get_boot_ns();
	}
	if (is_anothers(&event->head)) {
		bpf_ringbuf_discard(event, 0);
		return;
	}
	event->sock = sock;
	event->answers = !leaves;
	event->len = read_payload(packet, udp + UDP_HEADER_BYTES, event->payload);
	bpf_ringbuf_submit(event, 0);
}

SEC("cgroup_skb/egress")
int on_egress(struct __sk_buff *packet)
{
	on_packet(packet, true);
	return 1;
}

SEC("cgroup_skb/ingress")
int on_ingress(struct __sk_buff *packet)
{
	on_packet(packet, false);
	return 1;
}

#endif
