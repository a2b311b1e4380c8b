/* The programs the engine loads, one object of them. */
#include "kernel-types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "../events.h"
#include "common.h"
#include "paths.h"
#include "namespaces.h"
#include "process.h"
#include "sockets.h"
#include "syscalls.h"
#include "opens.h"
#include "dns.h"

/* The texts begin right behind the fixed part. */
_Static_assert(sizeof(struct event_exec) == __builtin_offsetof(struct event_exec, data), "exec");
_Static_assert(sizeof(struct event_open) == __builtin_offsetof(struct event_open, path), "open");
_Static_assert(sizeof(struct event_module) == __builtin_offsetof(struct event_module, path), "module");

char programs_license[] SEC("license") = "Dual BSD/GPL";
