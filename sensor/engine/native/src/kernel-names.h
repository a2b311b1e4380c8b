/* Names of numbers, as Tetragon writes them. */
#ifndef KERNEL_NAMES_H
#define KERNEL_NAMES_H

#include "../events.h"
#include "json.h"

void names_init(void);
/* {"permitted":[..],"effective":[..],"inheritable":[..]} */
void put_capabilities(struct text *to, const struct creds *creds);
/* Every namespace where `whole`, otherwise only the network's. */
void put_namespaces(struct text *to, const u32 *ns, int whole);
/* A process_credentials_arg's value. */
void put_credentials(struct text *to, const struct creds *creds);
/* A quoted SIGKILL; one without a name becomes SIG<number>. */
void put_signal(struct text *to, unsigned signal);
/* "O_RDWR|O_CREAT" */
void put_open_flags(struct text *to, u32 flags);
/* "-rw-r--r--" */
void put_mode(struct text *to, u32 mode);
void put_address(struct text *to, u16 family, const u8 *address);
const char *syscall_name(u32 number);
const char *ptrace_name(u64 request);
/* BPF_MAP_CREATE; one without a name becomes BPF_<number>. */
void put_bpf_command(struct text *to, u32 command);
void put_bpf_program_type(struct text *to, u32 type);

#endif
