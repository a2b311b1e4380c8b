// Mistakes with policies: what a Sensor gives its engine and forgets of versions, how far a Console's rollout goes, and what
// a Console tells.
import type { RolloutRow } from '../../../machines/console/policy/book.rules.ts';
import type { OpenFile } from '../../../sensor/state-directory/file-port.ts';
import type { NodeTampering } from '../world/node-host.ts';
import { losingAlerts } from './lost-alerts.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

const RUN_FILE = 'run/policies';
const RECORD = 'assigned-pack.json';
const EVERYBODY = 2 ** 32;
const PUBLISHED: PlantedBug['options'] = {
  ...{ ...CALM, sensors: 2, publishers: 1, hours: 0.4, faultsPerHour: 60 },
  kinds: ['network.cut', 'node.kill'],
};

/** Changes what a Sensor writes into files of this name. */
function rewriting(name: string, change: (text: string) => string): () => NodeTampering {
  return () => ({
    ports: (ports) => ({
      ...ports,
      files: {
        ...ports.files,
        async open(path, how, mode) {
          const file = await ports.files.open(path, how, mode);
          if (!path.includes(name)) return file;
          const append: OpenFile['append'] = (bytes) =>
            file.append(Buffer.from(change(Buffer.from(bytes).toString())));
          return { ...file, append };
        },
      },
    }),
  });
}

export const POLICY_BUGS: readonly PlantedBug[] = [
  {
    name: 'half-a-pack-in-force',
    mistake: 'A Sensor leaves the last policy out of what it gives its engine.',
    foundBy: 'packs-in-force',
    options: PUBLISHED,
    pinnedSeed: '1',
    node: rewriting(RUN_FILE, (text) => text.replace(/policy three [\s\S]*?(?=policy |end)/, '')),
  },
  {
    name: 'older-pack-comes-back',
    mistake: 'A Sensor does not remember the highest version that it had in force.',
    foundBy: 'packs-in-force',
    // Only a node that begins again forgets.
    options: { ...PUBLISHED, sensors: 3, kinds: ['node.kill'], faultsPerHour: 120 },
    pinnedSeed: '2',
    node: rewriting(RECORD, (text) =>
      JSON.stringify({ ...(JSON.parse(text) as object), highest: {} }),
    ),
  },
  {
    name: 'halt-goes-untold',
    mistake: 'A rollout that a gate holds up has no alert.',
    foundBy: 'halted-rollouts',
    options: { ...PUBLISHED, kinds: [], faultsPerHour: 0 },
    pinnedSeed: '1',
    console: losingAlerts('policy_rollout_halted'),
  },
  {
    name: 'canary-is-everybody',
    mistake: 'A rollout that names its first sensors reaches all of them at once.',
    foundBy: 'rollout-gates',
    options: PUBLISHED,
    pinnedSeed: '2',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        policies: {
          ...ports.policies,
          commit: (input) =>
            ports.policies.commit({
              ...input,
              changes: input.changes.map((one) =>
                one.kind === 'rollout' && one.head !== null
                  ? { ...one, head: reachingAll(one.head as RolloutRow) }
                  : one,
              ),
            }),
        },
      }),
    }),
  },
  {
    name: 'refusal-passes-the-gate',
    mistake: 'A Console takes a sensor that refused a version for one that has it.',
    foundBy: 'rollout-gates',
    options: PUBLISHED,
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        rollouts: {
          ...ports.rollouts,
          async look(sensorIds) {
            const sights = await ports.rollouts.look(sensorIds);
            return sights.map((one) => {
              const isRefused = one.report?.state === 'failed' || one.report?.state === 'rejected';
              if (one.report === null || !isRefused) return one;
              return { ...one, report: { ...one.report, state: 'monitoring' as const } };
            });
          },
        },
      }),
    }),
  },
  {
    name: 'engine-starts-without-policies',
    mistake: 'An engine that starts again is not told where its policies are.',
    foundBy: 'assigned-packs',
    options: { ...PUBLISHED, hours: 0.1, faultsPerHour: 120, kinds: ['engine.crash'] },
    pinnedSeed: '2',
    node() {
      let starts = 0;
      return {
        ports: (ports) => ({
          ...ports,
          engine: {
            ...ports.engine,
            launch(asked) {
              starts += 1;
              if (starts === 1) return ports.engine.launch(asked);
              const { policyFile: _, ...rest } = asked;
              return ports.engine.launch(rest);
            },
          },
        }),
      };
    },
  },
];

function reachingAll(row: RolloutRow): RolloutRow {
  const begun = row.context.begun.map((one) => ({ ...one, cut: EVERYBODY }));
  return { ...row, context: { ...row.context, begun } };
}
