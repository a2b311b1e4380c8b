// One readable line for each event: who did what. Text from the node stands in it as data, without control characters.
import { MESSAGE_MAX_CHARS, MONITORED_TAG, type RuntimeEvent } from '../../machines/wire/event.ts';
import { cutText, plainText } from './json-value.ts';

type Told = Omit<RuntimeEvent, 'message'>;
export type MessageExtra = { readonly detail?: string };

const DOES: Partial<Record<RuntimeEvent['event_kind'], string>> = {
  privilege_change: 'changed its privileges',
  kernel_module_load: 'loaded a kernel module',
  process_ptrace: 'traced another process',
  process_signal: 'sent a signal',
};
const OTHER_BPF_COMMAND = /^: BPF_(?!PROG_LOAD\b)/;

export function messageOf(event: Told, extra: MessageExtra): string {
  const detail = extra.detail ?? '';
  const message = plainText(sentence(event, detail), MESSAGE_MAX_CHARS);
  const { name, action = '' } = event.policy ?? {};
  if (!action.startsWith(MONITORED_TAG)) return message;
  const deed = action.slice(MONITORED_TAG.length);
  const end = plainText(`; policy ${name} would have stopped it (${deed})`, MESSAGE_MAX_CHARS);
  return messageWith(message, end);
}

/** A message with an end that is kept when there is too much of it. */
export function messageWith(message: string, end: string): string {
  return `${cutText(message, MESSAGE_MAX_CHARS - end.length)}${end}`;
}

function sentence(event: Told, detail: string): string {
  const who = event.process
    ? `${event.process.binary || 'a process'} (${event.process.pid})`
    : 'A process';
  switch (event.event_kind) {
    case 'process_exec': {
      const by = event.parent?.binary ? ` started by ${event.parent.binary}` : ' started';
      const args = event.process?.arguments;
      return `${who}${by}${args === undefined ? '' : `: ${args}`}`;
    }
    case 'process_burst': {
      const by = event.parent?.binary ? ` by ${event.parent.binary}` : '';
      const args = event.process?.arguments;
      return `${event.process?.binary || 'A process'} was started ${event.occurrences ?? 'many'} times${by}${args === undefined ? '' : `, first: ${args}`}`;
    }
    case 'process_exit':
      return `${who} ended${detail}`;
    case 'network_connect':
      return `${who} connected to ${endpoint(event)}${detail}`;
    case 'network_accept':
      return `${who} accepted a connection from ${event.network?.source_ip ?? 'an unknown address'}${detail}`;
    case 'network_listen':
      return `${who} listens on ${endpoint(event)}${detail}`;
    case 'network_close':
      return `${who} ended its connection with ${endpoint(event)}${detail}`;
    case 'dns_query':
      return `${who} asked the name server ${endpoint(event)}${detail}`;
    case 'file_open':
    case 'library_load':
      return `${who} opened ${event.file?.path ?? 'a file'}${detail}`;
    case 'file_write':
      return `${who} changed ${event.file?.path ?? 'a file'}${detail}`;
    case 'engine_loss':
      return `The engine lost ${event.occurrences ?? 'some'} events${detail}`;
    case 'engine_throttle':
      return `The engine throttled${detail}`;
    case 'bpf_program_load':
      // The engine tells every command of bpf() that brings something in or changes it; most of them load no program.
      return `${who} ${OTHER_BPF_COMMAND.test(detail) ? 'called bpf()' : 'loaded a BPF program'}${detail}`;
    case 'policy_enforced':
      return `${who} was stopped by policy ${event.policy?.name ?? ''} (${event.policy?.action ?? ''})${detail}`;
    default: {
      const { name = '' } = event.policy ?? {};
      const does =
        DOES[event.event_kind] ?? `matched ${name === '' ? 'a policy' : `policy ${name}`}`;
      return `${who} ${does}${detail}`;
    }
  }
}

function endpoint(event: Told): string {
  const { destination_ip: ip = 'an unknown address', destination_port: port } = event.network ?? {};
  const host = ip.includes(':') ? `[${ip}]` : ip;
  return port === undefined ? host : `${host}:${port}`;
}
