/* The namespaces of a task, by their numbers. */
#ifndef NAMESPACES_H
#define NAMESPACES_H

static __always_inline void fill_namespaces(u32 *to, struct task_struct *task, const struct cred *cred)
{
	struct nsproxy *proxy = BPF_CORE_READ(task, nsproxy);
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct pid_namespace *ns = 0;

	to[NS_UTS] = BPF_CORE_READ(proxy, uts_ns, ns.inum);
	to[NS_IPC] = BPF_CORE_READ(proxy, ipc_ns, ns.inum);
	to[NS_MNT] = BPF_CORE_READ(proxy, mnt_ns, ns.inum);
	to[NS_PID_FOR_CHILDREN] = BPF_CORE_READ(proxy, pid_ns_for_children, ns.inum);
	to[NS_NET] = BPF_CORE_READ(proxy, net_ns, ns.inum);
	to[NS_TIME] = BPF_CORE_READ(proxy, time_ns, ns.inum);
	to[NS_TIME_FOR_CHILDREN] = BPF_CORE_READ(proxy, time_ns_for_children, ns.inum);
	to[NS_CGROUP] = BPF_CORE_READ(proxy, cgroup_ns, ns.inum);
	to[NS_USER] = BPF_CORE_READ(cred, user_ns, ns.inum);
	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, ns));
	to[NS_PID] = BPF_CORE_READ(ns, ns.inum);
}

#endif
