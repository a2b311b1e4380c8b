/* The few kernel structures the programs read, with only the fields they read. Each access is relocated at load time
 * against the running kernel's own BTF, so neither order nor size here means anything, and the build needs no BTF. */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0 };
enum { BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kuid { u32 val; };
struct kgid { u32 val; };
struct kernel_cap { u64 val; };
struct ns_common { u32 inum; };
struct user_namespace { struct ns_common ns; };
struct uts_namespace { struct ns_common ns; };
struct ipc_namespace { struct ns_common ns; };
struct mnt_namespace { struct ns_common ns; };
struct pid_namespace { struct ns_common ns; };
struct net { struct ns_common ns; };
struct time_namespace { struct ns_common ns; };
struct cgroup_namespace { struct ns_common ns; };
struct nsproxy {
	struct uts_namespace *uts_ns;
	struct ipc_namespace *ipc_ns;
	struct mnt_namespace *mnt_ns;
	struct pid_namespace *pid_ns_for_children;
	struct net *net_ns;
	struct time_namespace *time_ns;
	struct time_namespace *time_ns_for_children;
	struct cgroup_namespace *cgroup_ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};
struct cred {
	struct kuid uid, suid, euid, fsuid;
	struct kgid gid, sgid, egid, fsgid;
	struct kernel_cap cap_inheritable, cap_permitted, cap_effective;
	struct user_namespace *user_ns;
};

struct qstr {
	u32 len;
	const unsigned char *name;
};
struct inode {
	u16 i_mode;
	struct kuid i_uid;
	unsigned int i_nlink;
	unsigned long i_ino;
};
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};
struct vfsmount { struct dentry *mnt_root; };
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct file {
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	unsigned int f_mode;
	void *private_data;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct { struct fdtable *fdt; };
struct fs_struct { struct path pwd; };

struct kernfs_node {
	struct kernfs_node *parent;
	const char *name;
};
struct kernfs_node___v615 { struct kernfs_node *__parent; };
struct cgroup { struct kernfs_node *kn; };
struct cgroup_subsys_state { struct cgroup *cgroup; };
struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};
enum cgroup_subsys_id { pids_cgrp_id = 1, memory_cgrp_id = 2, cpu_cgrp_id = 3 };

struct mm_struct { unsigned long arg_start, arg_end; };
typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
};
struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	int exit_code;
	u64 start_boottime;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct pid *thread_pid;
	struct signal_struct *signal;
	const struct cred *cred;
	struct css_set *cgroups;
	struct kuid loginuid;
};
struct module { char name[56]; };
struct linux_binprm {
	const char *filename;
	struct file *file;
};

struct in6_addr {
	union { u8 u6_addr8[16]; } in6_u;
};
typedef struct { struct net *net; } possible_net_t;
struct sock_common {
	u16 skc_family;
	u16 skc_num;
	u8 skc_state;
	__be16 skc_dport;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	possible_net_t skc_net;
	atomic64_t skc_cookie;
};
struct sock {
	struct sock_common __sk_common;
	u16 sk_type;
	u16 sk_protocol;
};
struct inet_sock { __be16 inet_sport; };
struct socket { struct sock *sk; };

struct trace_event_raw_sys_enter {
	long id;
	unsigned long args[6];
};
struct trace_event_raw_sys_exit {
	long id;
	long ret;
};
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, ax;
};

#pragma clang attribute pop

struct bpf_raw_tracepoint_args { u64 args[1]; };
/* The context of a cgroup_skb program as the kernel's own interface defines it: its length and its socket are read. */
struct bpf_sock;
struct __sk_buff {
	u32 len;
	u32 others[41];
	struct bpf_sock *sk;
};

#endif
