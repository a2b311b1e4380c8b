// A heartbeat made of text, so that whoever sends thousands of them is cheaper than what is measured.
import type { PolicyReport } from '../../machines/wire/policy.ts';

/** One heartbeat as JSON text; `events` are theirs, separated by commas, `policy` what the node says of its policies. */
export function heartbeatText(said: {
  readonly streamId: string;
  readonly sequence: number;
  readonly events: string;
  readonly policy?: PolicyReport;
}): string {
  const at = new Date().toISOString();
  const { streamId, sequence, events } = said;
  const policy = said.policy === undefined ? '' : `,"policy":${JSON.stringify(said.policy)}`;
  return `{"stream_id":"${streamId}","sequence":${sequence},"sent_at":"${at}","boot_id":"bench","sensor":{"version":"0.1.0","flavor":"standard","capabilities":["stream","zstd"]},"engine":{"kind":"procfs","version":"1.7.0","state":"running","restarts":0,"disabled_hooks":[],"loaded_policies":[]},"trust":{"state":"trusted","certificate_expires_at":"2030-01-01T00:00:00.000Z","renewal_status":"ok"},"events":[${events}],"connections":[],"listening_services":[{"protocol":"tcp","ip":"0.0.0.0","port":22,"pid":1,"binary":"/usr/sbin/sshd"}],"flows":[],"resources":{"cpu_percent":1.5,"memory_bytes":100000000},"system":{"os_name":"Debian","os_version":"12","architecture":"x64","kernel_version":"6.1"},"pipeline":{"read":10,"normalized":10,"dropped":0,"aggregated":0,"spooled":0,"spool_depth":0,"discarded":0,"sent_stream":0,"sent_heartbeat":10,"engine_lost":0}${policy}}`;
}
