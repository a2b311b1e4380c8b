#include "kernel-names.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const CAPABILITIES[] = {
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID",
	"CAP_SETUID", "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN",
	"CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_IPC_OWNER", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE", "CAP_SYS_PACCT", "CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE", "CAP_SYS_RESOURCE",
	"CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL",
	"CAP_SETFCAP", "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ", "CAP_PERFMON", "CAP_BPF", "CAP_CHECKPOINT_RESTORE",
};
#define CAPABILITIES_COUNT (sizeof(CAPABILITIES) / sizeof(CAPABILITIES[0]))

static const char *const NAMESPACES[NS_KINDS] = {
	"uts", "ipc", "mnt", "pid", "pid_for_children", "net", "time", "time_for_children", "cgroup", "user",
};
static u32 host_ns[NS_KINDS];

void names_init(void)
{
	for (int i = 0; i < NS_KINDS; i++) {
		char file[64], target[64] = "";

		snprintf(file, sizeof(file), "/proc/1/ns/%s", NAMESPACES[i]);
		if (readlink(file, target, sizeof(target) - 1) > 0 && strchr(target, '['))
			host_ns[i] = strtoul(strchr(target, '[') + 1, 0, 10);
	}
}

static void put_list(struct text *to, const char *key, u64 set)
{
	int some = 0;

	put(to, key);
	for (unsigned i = 0; i < CAPABILITIES_COUNT; i++) {
		if (!(set >> i & 1))
			continue;
		put(to, some++ ? ",\"" : "\"");
		put(to, CAPABILITIES[i]);
		put(to, "\"");
	}
	put(to, "]");
}

void put_capabilities(struct text *to, const struct creds *creds)
{
	put_list(to, "{\"permitted\":[", creds->permitted);
	put_list(to, ",\"effective\":[", creds->effective);
	put_list(to, ",\"inheritable\":[", creds->inheritable);
	put(to, "}");
}

void put_namespaces(struct text *to, const u32 *ns, int whole)
{
	int some = 0;

	put(to, "{");
	for (int i = 0; i < NS_KINDS; i++) {
		if (ns[i] == 0 || (!whole && i != NS_NET))
			continue;
		put(to, some++ ? ",\"" : "\"");
		put(to, NAMESPACES[i]);
		put(to, "\":{\"inum\":");
		put_number(to, ns[i]);
		put(to, ns[i] == host_ns[i] ? ",\"is_host\":true}" : "}");
	}
	put(to, "}");
}

void put_credentials(struct text *to, const struct creds *creds)
{
	static const char *const keys[] = { "{\"uid\":", ",\"gid\":", ",\"euid\":", ",\"egid\":",
					    ",\"suid\":", ",\"sgid\":", ",\"fsuid\":", ",\"fsgid\":" };
	const u32 ids[] = { creds->uid, creds->gid, creds->euid, creds->egid,
			    creds->suid, creds->sgid, creds->fsuid, creds->fsgid };

	for (int i = 0; i < 8; i++) {
		put(to, keys[i]);
		put_number(to, ids[i]);
	}
	put(to, ",\"caps\":");
	put_capabilities(to, creds);
	put(to, "}");
}

void put_signal(struct text *to, unsigned signal)
{
	const char *name = sigabbrev_np(signal);

	put(to, "\"SIG");
	if (name)
		put(to, name);
	else
		put_number(to, signal);
	put(to, "\"");
}

void put_open_flags(struct text *to, u32 flags)
{
	static const struct { u32 flag; const char *name; } words[] = {
		{ O_CREAT, "|O_CREAT" }, { O_EXCL, "|O_EXCL" }, { O_TRUNC, "|O_TRUNC" }, { O_APPEND, "|O_APPEND" },
		{ O_DIRECTORY, "|O_DIRECTORY" }, { O_NOFOLLOW, "|O_NOFOLLOW" }, { O_CLOEXEC, "|O_CLOEXEC" },
		{ 010000000, "|O_PATH" },
	};
	static const char *const access[] = { "\"O_RDONLY", "\"O_WRONLY", "\"O_RDWR", "\"O_ACCMODE" };

	put(to, access[flags & 3]);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (flags & words[i].flag)
			put(to, words[i].name);
	put(to, "\"");
}

void put_mode(struct text *to, u32 mode)
{
	static const char kinds[] = "?pc?d?b?-?l?s???";
	char text[] = "\"----------\"";

	text[1] = kinds[mode >> 12 & 15];
	for (int i = 0; i < 9; i++)
		if (mode >> (8 - i) & 1)
			text[2 + i] = "rwx"[i % 3];
	if (mode & 04000)
		text[4] = mode & 0100 ? 's' : 'S';
	if (mode & 02000)
		text[7] = mode & 010 ? 's' : 'S';
	if (mode & 01000)
		text[10] = mode & 1 ? 't' : 'T';
	put(to, text);
}

void put_address(struct text *to, u16 family, const u8 *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, address, text, sizeof(text));
	put_string(to, text, strlen(text));
}

const char *syscall_name(u32 number)
{
	static const struct { u32 number; const char *name; } calls[] = {
		{ SYS_setuid, "setuid" }, { SYS_setgid, "setgid" }, { SYS_setreuid, "setreuid" },
		{ SYS_setregid, "setregid" }, { SYS_setresuid, "setresuid" }, { SYS_setresgid, "setresgid" },
		{ SYS_setfsuid, "setfsuid" }, { SYS_setfsgid, "setfsgid" }, { SYS_capset, "capset" },
		{ SYS_setns, "setns" }, { SYS_unshare, "unshare" }, { SYS_init_module, "init_module" },
		{ SYS_finit_module, "finit_module" },
	};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return "unknown";
}

const char *ptrace_name(u64 request)
{
	return request == 0 ? "PTRACE_TRACEME" : request == 16 ? "PTRACE_ATTACH" : "PTRACE_SEIZE";
}

void put_bpf_command(struct text *to, u32 command)
{
	static const char *const names[] = {
		[0] = "MAP_CREATE", [5] = "PROG_LOAD", [6] = "OBJ_PIN", [7] = "OBJ_GET", [8] = "PROG_ATTACH",
		[9] = "PROG_DETACH", [17] = "RAW_TRACEPOINT_OPEN", [18] = "BTF_LOAD", [28] = "LINK_CREATE",
		[29] = "LINK_UPDATE", [32] = "ENABLE_STATS", [33] = "ITER_CREATE", [34] = "LINK_DETACH",
		[35] = "PROG_BIND_MAP", [36] = "TOKEN_CREATE", [37] = "PROG_STREAM_READ_BY_FD",
	};

	put(to, "BPF_");
	if (command < sizeof(names) / sizeof(names[0]) && names[command])
		put(to, names[command]);
	else
		put_number(to, command);
}

void put_bpf_program_type(struct text *to, u32 type)
{
	static const char *const types[] = {
		"UNSPEC", "SOCKET_FILTER", "KPROBE", "SCHED_CLS", "SCHED_ACT", "TRACEPOINT", "XDP", "PERF_EVENT",
		"CGROUP_SKB", "CGROUP_SOCK", "LWT_IN", "LWT_OUT", "LWT_XMIT", "SOCK_OPS", "SK_SKB", "CGROUP_DEVICE",
		"SK_MSG", "RAW_TRACEPOINT", "CGROUP_SOCK_ADDR", "LWT_SEG6LOCAL", "LIRC_MODE2", "SK_REUSEPORT",
		"FLOW_DISSECTOR", "CGROUP_SYSCTL", "RAW_TRACEPOINT_WRITABLE", "CGROUP_SOCKOPT", "TRACING", "STRUCT_OPS",
		"EXT", "LSM", "SK_LOOKUP", "SYSCALL", "NETFILTER",
	};

	put(to, "\"BPF_PROG_TYPE_");
	if (type < sizeof(types) / sizeof(types[0]))
		put(to, types[type]);
	else
		put_number(to, type);
	put(to, "\"");
}
