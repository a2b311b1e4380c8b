/* What the programs in the kernel put into the ring and the engine reads out of it. Both sides are built from this file. */
#ifndef EVENTS_H
#define EVENTS_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
#endif

#define PATH_MAX_BYTES 4096
#define ARGS_MAX_BYTES 4096
#define CGROUP_NAME_BYTES 128
#define DNS_BYTES 512
#define DNS_PORTS_MAX 4
#define WATCH_PREFIX_BYTES 256
#define WATCHED_MAX 256
#define IGNORED_MAX 64
#define CGROUPS_MAX 1024
#define CGROUP_LEVELS 16

enum event_kind {
	EVENT_EXEC = 1,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_SOCK,
	EVENT_OPEN,
	EVENT_CRED,
	EVENT_PTRACE,
	EVENT_BPF,
	EVENT_MODULE,
	EVENT_DNS,
	EVENT_POLICY,
	EVENT_KINDS,
};

/* Every event begins so. The start time names a process even when its number is used again. */
struct event_head {
	u32 kind;
	u32 tgid;
	u32 tid;
	u32 uid;
	u64 time;  /* CLOCK_BOOTTIME */
	u64 start; /* of the thread group's leader, CLOCK_BOOTTIME */
	u64 cgroup;
};

enum ns_kind {
	NS_UTS, NS_IPC, NS_MNT, NS_PID, NS_PID_FOR_CHILDREN, NS_NET, NS_TIME, NS_TIME_FOR_CHILDREN, NS_CGROUP, NS_USER,
	NS_KINDS,
};

struct creds {
	u32 uid, gid, euid, egid, suid, sgid, fsuid, fsgid;
	u64 permitted, effective, inheritable;
};

#define EXEC_ARGS_CUT 1
#define EXEC_NO_ARGS 2
#define EXEC_NO_CWD 4

/* The texts follow one another in `data`: filename, resolved file, working directory, arguments, cgroup name. */
struct event_exec {
	struct event_head head;
	struct creds creds;
	u32 auid;
	u32 ppid;
	u64 pstart;
	u64 inode;
	u32 links;
	u32 mode;
	u32 flags;
	u32 ns[NS_KINDS];
	u16 filename_len, file_len, cwd_len, args_len, cgroup_len, pad;
	char data[];
};

struct event_fork {
	struct event_head head;
	u32 ptgid;
	u32 pad;
	u64 pstart;
};

struct event_exit {
	struct event_head head;
	u32 code;
	u32 pad;
};

enum sock_op { SOCK_CONNECT = 1, SOCK_ACCEPT, SOCK_LISTEN, SOCK_CLOSE };

struct sock_facts {
	u16 family, protocol, type, sport, dport, state;
	u8 saddr[16], daddr[16];
	u32 netns;
	u64 cookie;
};

struct event_sock {
	struct event_head head;
	u32 op;
	s32 result;
	struct sock_facts sock;
};

struct event_open {
	struct event_head head;
	u32 flags;
	u32 mode;
	u32 path_len;
	u32 pad;
	char path[];
};

struct event_cred {
	struct event_head head;
	u32 syscall;
	u32 pad;
	struct creds creds;
	u32 ns[NS_KINDS];
};

struct event_ptrace {
	struct event_head head;
	u64 request;
	u32 target;
	u32 pad;
};

#define BPF_NAME_BYTES 16
#define BPF_TEXT_BYTES 128
#define BPF_COMMAND_MAP_CREATE 0
#define BPF_COMMAND_PROG_LOAD 5

struct event_bpf {
	struct event_head head;
	u32 command;
	u32 type;  /* of the program or the map */
	u32 count; /* of its instructions or entries */
	u32 pad;
	char text[BPF_TEXT_BYTES]; /* its name, or the path it is pinned at */
};

#define MODULE_NAME_BYTES 64
#define SYSCALL_NONE 0xffff /* no call: the kernel told it itself */

struct event_module {
	struct event_head head;
	u32 syscall;
	u32 path_len;
	u64 length;
	char path[];
};

struct event_dns {
	struct event_head head;
	struct sock_facts sock;
	u32 answers; /* 0 = a question that leaves, 1 = an answer that arrives */
	u32 len;
	u8 payload[DNS_BYTES];
};

/* Counters, one set on every CPU. */
enum counter { COUNT_LOST, COUNT_FILTERED, COUNT_CUT, COUNTERS };

#define WATCH_READ 1
#define WATCH_WRITE 2

struct watch_key {
	u32 bits;
	char path[WATCH_PREFIX_BYTES];
};

/* Constants the engine sets before it loads the programs. */
struct settings {
	u32 self;
	u32 cgroup_mode; /* 0 = all, 1 = only those listed, 2 = all but those listed */
	u32 tell_close;
	u32 dns_ports;
	u16 dns_port[DNS_PORTS_MAX];
};

#endif
