// What went between a node and its Console, read from the recorded transitions: messages with their way, and what each
// side decided by itself.
import type { SensorMove } from '../api/contract.ts';
import { eventWord } from './state-tree.ts';

export type Exchange = {
  readonly at: string;
  /** To the Console, to the node, or within one of them. */
  readonly way: 'up' | 'down' | 'node' | 'console';
  readonly words: string;
  readonly more: string;
};

const UP: Readonly<Record<string, string>> = {
  'heartbeat.received': 'heartbeat',
  'stream.opened': 'opens its stream',
  'stream.closed': 'the stream is closed',
  'policy.reported': 'reports its policy',
  'containment.reported': 'reports its containment',
};
const DOWN: Readonly<Record<string, string>> = {
  'certificate.changed': 'new certificate',
  'sensor.revoked': 'revokes the identity',
  'policy.assigned': 'assigns a policy',
  'containment.ordered': 'orders containment',
  'release.ordered': 'orders the release',
};

/** Newest first; what one event moved is one line. */
export function exchangesOf(moves: readonly SensorMove[]): readonly Exchange[] {
  const lines = new Map<string, Exchange>();
  for (const move of moves) {
    const isNode = move.kind.startsWith('node/');
    const key = isNode ? `${move.at}/${move.kind}/${move.to}` : `${move.at}/${move.event}`;
    const known = lines.get(key);
    const told = move.region === '' ? '' : `${move.region} ${move.from} → ${move.to}`;
    if (known !== undefined) {
      const more = [known.more, told].filter((text) => text !== '').join(', ');
      lines.set(key, { ...known, more });
    } else lines.set(key, isNode ? nodeLine(move) : consoleLine(move, told));
  }
  return [...lines.values()];
}

function nodeLine({ at, kind, from, to }: SensorMove): Exchange {
  const more = `${from === '' ? '' : `${from} `}→ ${to === '' ? 'ended' : to}`;
  return { at, way: 'node', words: kind.slice('node/'.length), more };
}

function consoleLine({ at, event, facts }: SensorMove, told: string): Exchange {
  const reason = typeof facts['reason'] === 'string' ? `${facts['reason']} ` : '';
  const [up, down] = [UP[event], DOWN[event]];
  if (up !== undefined) return { at, way: 'up', words: up, more: `${reason}${told}` };
  if (down !== undefined) return { at, way: 'down', words: down, more: `${reason}${told}` };
  return { at, way: 'console', words: eventWord(event), more: told };
}
