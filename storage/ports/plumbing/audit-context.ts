// Who does something that is audited, from where, and when: every change of operator access carries it, so that the audit
// row is written in the transaction of the change. decision: D35
export type AuditContext = {
  /** `user:<e-mail>`, `api-key:<name>`, `quick-start`, `provisioning`, `setup`. */
  readonly actor: string;
  /** The address that asked; absent for what the Console does by itself. */
  readonly from?: string | undefined;
  readonly nowMs: number;
};
