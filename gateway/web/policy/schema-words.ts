// What an editor offers while somebody writes a policy: the fields and words that nodes understand, each with its meaning.
export type SchemaWord = readonly [word: string, meaning: string, kind: 'property' | 'enum'];

const fields = (words: Readonly<Record<string, string>>): readonly SchemaWord[] =>
  Object.entries(words).map(([word, meaning]) => [word, meaning, 'property']);
const values = (words: Readonly<Record<string, string>>): readonly SchemaWord[] =>
  Object.entries(words).map(([word, meaning]) => [word, meaning, 'enum']);

export const SCHEMA_WORDS: readonly SchemaWord[] = [
  ...fields({
    apiVersion: 'Always cilium.io/v1alpha1.',
    kind: 'Always TracingPolicy.',
    metadata: 'The name of the policy, the same as that of its file.',
    spec: 'What the policy waits for.',
    options: 'Options of the whole policy, such as its mode.',
    kprobes: 'Functions of the kernel, or system calls.',
    tracepoints: 'Tracepoints of the kernel.',
    lsmhooks: 'Security hooks of a kernel that has BPF among its LSMs.',
    uprobes: 'Functions of programs.',
    call: 'The function, such as security_file_open or sys_openat.',
    syscall: 'True when the function is a system call.',
    subsystem: 'The group of a tracepoint, such as raw_syscalls.',
    event: 'The name of a tracepoint.',
    hook: 'The name of a security hook.',
    args: 'The arguments that are read.',
    index: 'Which argument, from 0.',
    type: 'How an argument is read: int, string, file, path, sock, linux_binprm.',
    label: 'A name of the argument for people.',
    returnArg: 'How the return value is read.',
    message: 'A sentence that stands in the event.',
    tags: 'Words that stand in the event, such as a technique of ATT&CK.',
    selectors: 'When it matches; any one of them is enough.',
    matchArgs: 'Conditions on arguments; all have to hold.',
    matchPIDs: 'Conditions on the process id.',
    matchBinaries: 'Conditions on the program.',
    matchNamespaces: 'Conditions on namespaces of the kernel.',
    matchCapabilities: 'Conditions on capabilities.',
    matchActions: 'What is done beside telling it.',
    operator: 'How the values are compared.',
    values: 'What is compared with; any one of them is enough.',
    action: 'What is done.',
    argError: 'The error that Override answers with, such as -1.',
    argSig: 'The number of the signal that Signal sends.',
    rateLimit: 'Tells the same at most once in this time.',
  }),
  ...values({
    Equal: 'Is one of the values.',
    NotEqual: 'Is none of the values.',
    Prefix: 'Begins with one of the values.',
    NotPrefix: 'Begins with none of the values.',
    Postfix: 'Ends with one of the values.',
    NotPostfix: 'Ends with none of the values.',
    In: 'Is among the values.',
    NotIn: 'Is not among the values.',
    Sigkill: 'Ends the process.',
    Signal: 'Sends a signal to the process.',
    Override: 'Answers the call with an error; it is not done.',
    Post: 'Tells it. That is done anyway.',
    NoPost: 'Does not tell it.',
  }),
];
