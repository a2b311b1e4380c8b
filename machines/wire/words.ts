// The words of the wire that people see too, without its schemas: a page that only names them loads no reader of schemas.

export const EVENT_KINDS = [
  'process_exec',
  'process_exit',
  'process_burst',
  'network_connect',
  'network_accept',
  'network_listen',
  'network_close',
  'dns_query',
  'file_open',
  'file_write',
  'privilege_change',
  'kernel_module_load',
  'bpf_program_load',
  'process_ptrace',
  'process_signal',
  'library_load',
  'policy_match',
  'policy_enforced',
  'engine_loss',
  'engine_throttle',
  'ngap_procedure',
  'telecom_anomaly',
] as const;

export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;

export const TRUST_STATES = [
  'trusted',
  'renewal_recommended',
  'renewal_due',
  'trust_revoked',
] as const;

export const TRUST_HEALTHS = [
  'healthy',
  'renewal_recommended',
  'renewal_due',
  'degraded',
  'revoked',
] as const;

export const POLICY_MODES = ['enforce', 'monitor'] as const;

export const ENFORCEMENT_MODES = ['enforce', 'monitor', 'off'] as const;

/**
 * Where an event can be lost, in the order of its way: the kernel's ring, the engine, the reader of its export, the
 * pipeline, the spool (its cap, or damage on the disk), and the Console that will never take it.
 */
export const LOSS_PLACES = [
  'kernel_lost',
  'engine_lost',
  'reader_skipped',
  'pipeline_dropped',
  'spool_discarded',
  'console_refused',
] as const;

/** From the least to the most severe. */
export const ALERT_SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
