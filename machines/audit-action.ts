// How a capability declares what it writes into the audit log: each action, and what it means to a person.
export type AuditActions = Readonly<Record<`${string}.${string}`, string>>;
