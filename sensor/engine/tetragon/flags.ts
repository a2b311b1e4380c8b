// What Tetragon is started with. It also reads settings of its own from /etc and /usr, so that whatever matters here is
// said on the command line, which goes before them. It gets no listening port: its service is a unix socket, and its
// metrics are off unless the operator named an address for them.
import { createHash } from 'node:crypto';
import {
  TETRAGON_EXPORT_BACKUPS_MAX,
  TETRAGON_EXPORT_FILE_MIB,
} from '../../../machines/sensor/tetragon-limits.ts';

/** Our folder of the BPF file system. Each state directory has its own, so that no Sensor clears away another's. */
export function bpfDirOf(stateDir: string): string {
  return `service-sensor-${createHash('sha256').update(stateDir).digest('hex').slice(0, 12)}`;
}

/** The command line. A crash leaves the pinned programs at work until the next start has its own; an ordered end does not. */
export function tetragonFlags(options: {
  readonly bpfLib: string;
  readonly bpfDir: string;
  readonly exportFile: string;
  readonly socket: string;
  readonly policyDir: string;
  readonly metricsAddress: string | null;
}): readonly string[] {
  const flags: Readonly<Record<string, string | number | boolean>> = {
    'bpf-lib': options.bpfLib,
    'bpf-dir': options.bpfDir,
    'export-filename': options.exportFile,
    'export-file-max-size-mb': TETRAGON_EXPORT_FILE_MIB,
    'export-file-max-backups': TETRAGON_EXPORT_BACKUPS_MAX,
    'export-file-rotation-interval': '0s',
    'export-file-compress': false,
    'export-file-perm': '600',
    'export-rate-limit': -1,
    'export-allowlist': '',
    'export-denylist': '',
    'field-filters': '',
    'enable-export-aggregation': false,
    'tracing-policy': '',
    'tracing-policy-dir': options.policyDir,
    'server-address': `unix://${options.socket}`,
    'health-server-address': '',
    'metrics-server': options.metricsAddress ?? '',
    'gops-address': '',
    'pprof-address': '',
    'enable-k8s-api': false,
    'enable-process-cred': true,
    'enable-process-ns': true,
    'keep-sensors-on-exit': false,
    'release-pinned-bpf': false,
    'log-level': 'warn',
    'log-format': 'json',
    'log-file': '',
  };
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}
