// Which ATT&CK technique an event would be a step of, were it an attack. Rules from the most telling to the most general;
// the first that fits names the event. An event that fits none has none. The rules judge what was done, not whether it was
// meant: the score and the policies do that.
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { CONNECTIONS, PATHS, PROGRAMS, type Tagged, WHATEVER } from './mitre-rules.ts';

type Mitre = NonNullable<RuntimeEvent['mitre']>;
const MEMORY_ONLY = /^(?:\/memfd:|memfd:|\/dev\/fd\/|\/proc\/(?:self|\d+)\/fd\/)/;
const VERSION_SUFFIX = /[\d.]+$/;
const LONG_LABEL = /[^.]{48}/;

/** The technique and tactic of an event, or undefined. */
export function mitreOf(event: RuntimeEvent): Mitre | undefined {
  const found = tagOf(event);
  return found === undefined ? undefined : { technique: found[0], tactic: found[1] };
}

function tagOf(event: RuntimeEvent): Tagged | undefined {
  switch (event.event_kind) {
    case 'process_exec':
    case 'process_burst':
      return programOf(event);
    case 'file_open':
    case 'file_write':
      return pathOf(event);
    case 'network_connect':
      return connectionOf(event);
    case 'dns_query':
      return LONG_LABEL.test(event.network?.domain ?? '')
        ? ['T1071.004', 'command-and-control']
        : undefined;
    default:
      return WHATEVER[event.event_kind];
  }
}

function programOf({ process, workload }: RuntimeEvent): Tagged | undefined {
  const binary = process?.binary ?? '';
  if (MEMORY_ONLY.test(binary)) return ['T1620', 'defense-evasion'];
  const name = binary.slice(binary.lastIndexOf('/') + 1);
  const rule = PROGRAMS.get(name) ?? PROGRAMS.get(name.replace(VERSION_SUFFIX, ''));
  if (rule === undefined) return undefined;
  const [plain, inContainer] = rule;
  return workload?.container_id !== undefined && inContainer !== undefined ? inContainer : plain;
}

function pathOf({ event_kind: kind, file }: RuntimeEvent): Tagged | undefined {
  const path = file?.path ?? '';
  const erases = file?.operation === 'unlink' || file?.operation === 'truncate';
  const does = kind === 'file_open' ? 'read' : erases ? 'erase' : 'write';
  return PATHS.find((rule) => rule.does.includes(does) && rule.path.test(path))?.tagged;
}

function connectionOf({ network, workload }: RuntimeEvent): Tagged | undefined {
  if (network === undefined) return undefined;
  const isContained = workload?.container_id !== undefined;
  return CONNECTIONS.find(
    ({ ip, port, onlyContained }) =>
      (ip === undefined || ip === network.destination_ip) &&
      (port === undefined || port === network.destination_port) &&
      (onlyContained !== true || isContained),
  )?.tagged;
}
