// The capability of policy: what lies in `compiled-policies/` by hand and what the Console wants here is given to the
// engine, and what became of it is told. decision: D45, D78
import { waitFor } from 'xstate';
import { packStandingOf } from '../../../machines/sensor/policy.machine.ts';
import { jobsOf } from '../../../machines/sensor/policy.rules.ts';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability, SensorContext } from '../../capability.ts';
import { layOutHeld, readHeld } from '../../engine/policy/held-policies.ts';
import { policiesInForce } from '../../engine/policy/verified-set.ts';
import { errorCode } from '../../state-directory/file-port.ts';
import { type NodeKeys, openNodeKeys } from './node-keys.ts';
import { type PolicyKeeper, startPolicies } from './policies.ts';
import { policiesCommand } from './policies-command.ts';
import { type PolicyEffects, startPolicyActor } from './policy.actor.ts';
import { packLines, policyLines } from './policy-lines.ts';
import { createReportSender, policyReportOf, policyWithin } from './policy-report.ts';

type Policies = {
  /** There while events are collected. */
  keeper(): PolicyKeeper;
};

export const policy: SensorCapability<Policies> = {
  name: 'policy',
  async open(context) {
    let running: PolicyKeeper | null = null;
    const keys = await openNodeKeys(context.ports.files, context.config.stateDir, context.logger);
    const { actor, stage } = await start(context, keys, () => running);
    await waitFor(actor, (snapshot) => snapshot.value !== 'reading');
    const report = () => policyReportOf(actor.getSnapshot(), context.facts.policies, keys.sha256());
    let told = '';
    actor.subscribe((snapshot) => {
      const now = JSON.stringify([packStandingOf(snapshot), snapshot.context.held, keys.sha256()]);
      if (now !== told) context.report();
      told = now;
    });
    return {
      service: {
        keeper() {
          if (running === null) throw new Error('the policies are not read yet');
          return running;
        },
      },
      announces: ['policy.v1'],
      async collect() {
        const { held, sets } = stage();
        let way = '';
        const keeper = await startPolicies(
          context,
          () => {
            context.report();
            if (way !== (running?.way() ?? '')) actor.send({ type: 'engine.changed' });
            way = running?.way() ?? '';
          },
          policiesInForce(held, sets),
        );
        running = keeper;
        return async () => {
          running = null;
          await keeper.stop();
        };
      },
      forward() {
        // An enrollment may have brought other keys.
        void keys.take([]).catch(() => undefined);
        const sender = createReportSender();
        return {
          heartbeat() {
            const due = sender.due(policyWithin(report()));
            return {
              text: due === null ? '' : membersText({ policy: due }),
              heard(answer) {
                sender.heard(answer);
                if (answer !== null && jobsOf(answer).length > 0) {
                  actor.send({ type: 'wish.received', answer });
                }
              },
            };
          },
          frames: {
            refresh: ({ what }) => {
              if (what.includes('policy')) context.report();
            },
          },
        };
      },
      actors: () => [actor],
      status: () => ({ policies: context.facts.policies, pack: report() }),
      close: () => void actor.stop(),
    };
  },
  commands: [policiesCommand],
  statusRows: (live) => [
    ['PACK', ...packLines(live)],
    ['POLICIES', ...policyLines(live)],
  ],
  async checks({ config, engine }) {
    const { checkPolicies } = await import('./doctor-policies.ts');
    const found = await checkPolicies(config, engine);
    return found.map((one) => ({ name: 'policy', ...one }));
  },
};

/** From what is held on the disk. What does not verify is not in force; the Console is asked for it again. */
async function start(
  context: SensorContext,
  keys: NodeKeys,
  keeper: () => PolicyKeeper | null,
): Promise<PolicyEffects> {
  const { config, logger, ports } = context;
  const found = await readHeld(ports.files, config.stateDir, keys.keys());
  if (!found.ok) {
    logger.error(
      { reason: found.reason },
      'policies that were in force are not what was kept; they are asked for again',
    );
  }
  await layOutHeld(ports.files, config.stateDir, found).catch((error: unknown) =>
    logger.warn({ code: errorCode(error) }, 'copies of the policies cannot be laid out'),
  );
  return startPolicyActor(context, found, keys, keeper);
}
