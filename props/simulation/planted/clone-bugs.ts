// Mistakes about two nodes that use one identity. decision: D172
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import { losingAlerts } from './lost-alerts.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';
import { changePosts } from './tampered-transport.ts';

const CLONED = { ...CALM, hours: 0.4, kinds: ['node.clone'], faultsPerHour: 12 } as const;

export const CLONE_BUGS: readonly PlantedBug[] = [
  {
    name: 'clone-goes-unnoticed',
    mistake: 'A Console that refuses the stream of a second node writes it down nowhere.',
    foundBy: 'cloned-node',
    options: CLONED,
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        audit: {
          ...ports.audit,
          append: (entries) =>
            ports.audit.append(entries.filter(({ result }) => result !== 'identity_conflict')),
        },
      }),
    }),
  },
  {
    name: 'clone-alert-is-lost',
    mistake: 'A Console that refuses the stream of a second node has it in its audit log alone.',
    foundBy: 'cloned-node',
    options: CLONED,
    pinnedSeed: '1',
    console: losingAlerts('identity_conflict'),
  },
  {
    name: 'another-nodes-number-is-mine',
    mistake: 'A node whose number holds the events of another takes its own for stored.',
    foundBy: 'accounting',
    options: { ...CLONED, quietMs: 10_000 },
    pinnedSeed: '1',
    node: () =>
      changePosts(() => {
        let last: object = {};
        return (answer, path, text) => {
          if (answer.ok && path === SENSOR_PATHS.heartbeat) last = answer.json as object;
          if (answer.ok || answer.kind !== 'refused') return answer;
          if (answer.code !== 'sequence_conflict') return answer;
          const { sequence } = JSON.parse(text) as { readonly sequence: number };
          return { ok: true, status: 200, json: { ...last, acknowledged_sequence: sequence } };
        };
      }),
  },
];
