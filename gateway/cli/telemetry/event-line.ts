// One runtime event as one readable line.
import type { StoredEvent } from '../../../machines/wire/event.ts';
import { plain, type Terminal } from '../plumbing/terminal.ts';

const KIND_CHARS = 16;
const NODE_CHARS = 16;

/** `11:59:59.000 node-1  process_exec  /usr/bin/id -u`, coloured by severity. */
export function eventLine(event: StoredEvent, colors: Terminal['colors']): string {
  const time = colors.dim(plain(event.observed_at.slice(11, 23)));
  const node = colors.cyan(plain(event.node_name).padEnd(NODE_CHARS));
  const kind = plain(event.event_kind).padEnd(KIND_CHARS);
  const times = event.occurrences === undefined ? '' : colors.dim(` x${event.occurrences}`);
  return `${time} ${node} ${bySeverity(event, colors)(kind)} ${subjectOf(event)}${times}`;
}

function bySeverity({ severity }: StoredEvent, colors: Terminal['colors']) {
  if (severity === 'critical') return (text: string) => colors.bold(colors.red(text));
  if (severity === 'high') return colors.red;
  if (severity === 'medium') return colors.yellow;
  return severity === 'low' ? colors.blue : colors.green;
}

function subjectOf(event: StoredEvent): string {
  const { process, network, file } = event;
  const parts: string[] = [];
  if (process !== undefined) parts.push(plain(process.binary));
  if (process?.arguments) parts.push(plain(process.arguments));
  if (network !== undefined) parts.push(networkOf(network));
  if (file !== undefined) parts.push(`${plain(file.operation)} ${plain(file.path)}`);
  return parts.length === 0 ? plain(event.message) : parts.join(' ');
}

function networkOf(network: NonNullable<StoredEvent['network']>): string {
  const name = network.domain === undefined ? '' : ` (${network.domain})`;
  const to = `${network.destination_ip ?? '?'}:${network.destination_port ?? '?'}`;
  return plain(`${network.protocol} -> ${to}${name}`);
}
