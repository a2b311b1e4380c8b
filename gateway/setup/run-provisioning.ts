// The start-up step that puts in place what the Console was given: the file of cloud mode, or what was answered in the first
// run. Both may be done again at every start; the answers are removed once they are in place, and wrong codes of that run
// once they are audited. decision: D42, D64
import { type ProvisionInput, provision } from '../../actors/access/provision.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { StepOutcome } from '../../machines/console/runtime/startup.rules.ts';
import type { AuditEntry, AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { readProvisioningFile } from '../config/provisioning.ts';
import { readDraft } from './setup-draft.ts';

export type ProvisioningDeps = {
  /** The path of cloud mode's file; null when there is none. */
  readonly file: string | null;
  readonly answers: {
    readAnswers(): Promise<string | undefined>;
    removeAnswers(): Promise<void>;
    readRefusals(): Promise<readonly AuditEntry[]>;
    removeRefusals(): Promise<void>;
  };
  readonly audit: Pick<AuditLog, 'append'>;
  readonly provision: Parameters<typeof provision>[0];
  readonly logger: Logger;
};

/** Does both; throws with every mistake when one of them cannot be used. */
export async function runProvisioning(deps: ProvisioningDeps): Promise<StepOutcome> {
  const { file, answers, logger } = deps;
  const refused = await answers.readRefusals();
  if (refused.length > 0) {
    await deps.audit.append(refused);
    await answers.removeRefusals();
  }
  const text = await answers.readAnswers();
  if (file === null && text === undefined) return 'not_configured';
  if (text !== undefined) {
    const done = await put(deps, answersOf(text), 'setup', 'the answers of the setup');
    logger.info(done, 'the answers of the setup are in place');
    await answers.removeAnswers();
  }
  if (file !== null) {
    const read = readProvisioningFile(file);
    if (!read.ok) throw new Error(`${file}: ${read.mistakes.join('; ')}`);
    logger.info(await put(deps, read.input, 'provisioning', file), 'provisioned');
  }
  return 'done';
}

async function put(
  { provision: deps }: ProvisioningDeps,
  input: ProvisionInput,
  actor: 'provisioning' | 'setup',
  source: string,
) {
  const done = await provision(deps, input, actor);
  if (!done.ok) throw new Error(`${source}: ${done.mistakes.join('; ')}`);
  return { license: done.license, admin: done.admin };
}

function answersOf(text: string): ProvisionInput {
  const { license = null, admin } = readDraft(text);
  if (admin === undefined) return { license, admin: null, settings: {} };
  const { email, display_name: displayName, password_hash: passwordHash } = admin;
  return { license, settings: {}, admin: { email, displayName, secret: { passwordHash } } };
}
