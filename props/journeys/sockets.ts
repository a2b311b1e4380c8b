// The TCP connections of a process, as the kernel lists them in its network namespace.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export type Connection = {
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
  readonly inode: string;
  readonly isEstablished: boolean;
};
const ESTABLISHED = '01';
const LISTENING = '0A';

/** Every TCP connection of the process's network namespace; listening sockets are left out. */
export function connectionsAround(pid: number): Connection[] {
  return ['tcp', 'tcp6'].flatMap((table) => {
    const lines = readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1);
    return lines.flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [, local = '', remote = '', state = ''] = fields;
      if (state === LISTENING) return [];
      return [
        {
          local: endOf(local),
          remote: endOf(remote),
          inode: fields[9] ?? '',
          isEstablished: state === ESTABLISHED,
        },
      ];
    });
  });
}

/** The connections that the process itself holds. */
export function connectionsOf(pid: number): Connection[] {
  const held = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''];
      } catch {
        return [];
      }
    }),
  );
  return connectionsAround(pid).filter(({ inode }) => held.has(inode));
}

/** Whether an address as the kernel prints it is this machine's own. */
export function isLoopback(address: string): boolean {
  const mapped = /^0000000000000000FFFF0000([0-9A-F]{8})$/.exec(address)?.[1] ?? address;
  if (mapped.length === 8) return mapped.endsWith('7F');
  return mapped === '00000000000000000000000001000000';
}

function endOf(text: string) {
  const [address = '', port = '0'] = text.split(':');
  return { address, port: Number.parseInt(port, 16) };
}
