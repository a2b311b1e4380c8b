// The Sensor's state directory: the identity files, sensor-state.json and the lock. What a crash leaves is judged by
// machines/sensor/identity-files.rules.ts and repaired before anybody reads it. invariant: I7, I13
import { join } from 'node:path';
import type { Logger } from '../../actors/runtime/logger.ts';
import {
  FORGET_PREVIOUS,
  judgeIdentityFiles,
  KEEP_PREVIOUS,
  RESTORE_PREVIOUS,
} from '../../machines/sensor/identity-files.rules.ts';
import {
  makeDirectoryDurably,
  readText,
  removeDurably,
  removeTemporaries,
  writeAtomic,
} from './atomic-file.ts';
import { lockDirectory } from './directory-lock.ts';
import { errorCode, type Files } from './file-port.ts';
import {
  type IdentityResult,
  type InstallResult,
  type OpenStateDirectoryResult,
  parseSensorState,
  type SensorState,
  STATE_FILES,
  type StateDirectory,
} from './identity.ts';
import { createIdentityFiles, KEY_MODE, OPEN_MODE } from './identity-files.ts';
import type { PemReading } from './key-work.ts';

const DIRECTORY_MODE = 0o700;
const MODE_OF_OTHERS = 0o077;

export type StateDirectoryOptions = {
  readonly path: string;
  readonly files: Files;
  readonly keyWork: PemReading;
  readonly logger: Logger;
};

/** Makes the directory if absent (mode 0700), checks that it is this user's, and locks it for this process. */
export async function openStateDirectory(
  options: StateDirectoryOptions,
): Promise<OpenStateDirectoryResult> {
  const { path, files, logger } = options;
  try {
    await makeDirectoryDurably(files, path, DIRECTORY_MODE);
    const facts = await files.stat(path);
    if (facts === null || !facts.isDirectory)
      return { ok: false, reason: 'not_a_directory', detail: `${path} is not a directory.` };
    if (facts.ownerId !== process.getuid?.())
      return { ok: false, reason: 'foreign_owner', detail: `${path} belongs to another user.` };
    if ((facts.mode & MODE_OF_OTHERS) !== 0) {
      logger.warn({ path }, 'the state directory was open to others; it is closed now');
      await files.setMode(path, DIRECTORY_MODE);
    }
    const lock = await lockDirectory(files, path);
    if (!lock.ok)
      return { ok: false, reason: 'locked', detail: `${path} is used by ${lock.holder}.` };
    await removeTemporaries(files, path);
    return { ok: true, directory: stateDirectory(options, lock.release) };
  } catch (error) {
    return { ok: false, reason: 'disk_refuses', detail: `${path}: ${errorCode(error)}` };
  }
}

function stateDirectory(
  { path, files, keyWork, logger }: StateDirectoryOptions,
  unlock: () => Promise<void>,
): StateDirectory {
  const identityFiles = createIdentityFiles(files, path, keyWork);
  let isClosed = false;
  // Two changes of one file never overlap.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const own = last.then(run, run);
    last = own.catch(() => undefined);
    return own;
  }

  async function loadState(): Promise<SensorState | null> {
    const text = await readText(files, path, STATE_FILES.state);
    const parsed = text === null ? null : parseSensorState(text);
    if (parsed !== null && !parsed.ok) logger.warn({}, 'sensor-state.json cannot be read');
    return parsed?.ok === true ? parsed.value : null;
  }

  async function storeState(state: SensorState): Promise<void> {
    const text = `${JSON.stringify(state, null, 2)}\n`;
    await writeAtomic(files, path, STATE_FILES.state, { text, mode: KEY_MODE });
  }

  async function readIdentity(isAdopting = false): Promise<IdentityResult> {
    const verdict = judgeIdentityFiles(await identityFiles.facts());
    if (verdict.steps.length > 0 && !isAdopting)
      logger.warn({ steps: verdict.steps, found: verdict.kind }, 'identity files are repaired');
    await identityFiles.carryOut(verdict.steps);
    if (verdict.kind === 'none') return { kind: 'none' };
    if (verdict.kind === 'broken') return { kind: 'broken', reason: verdict.reason };
    const active = await identityFiles.pair('key', 'certificate');
    const caPem = await readText(files, path, STATE_FILES.consoleCa);
    const policyPubPem = await readText(files, path, STATE_FILES.policyKey);
    const facts = keyWork.certificateFacts(active?.certPem ?? '');
    const stored = await loadState();
    const sensorId = facts?.sensorId ?? stored?.sensor_id;
    if (active === null || facts === null || sensorId === undefined)
      return { kind: 'broken', reason: 'the certificate names no sensor: re-enroll' };
    if (caPem === null) return { kind: 'broken', reason: 'the Console CA is missing: re-enroll' };
    // The certificate is the authority; the state beside it may be one step ahead of it or lost.
    const state: SensorState = {
      trust_state: 'trusted',
      renewal_status: 'ok',
      ...stored,
      sensor_id: sensorId,
      certificate_expires_at: new Date(facts.notAfterMs).toISOString(),
    };
    return {
      kind: 'whole',
      ...active,
      sensorId,
      notAfterMs: facts.notAfterMs,
      caPem,
      policyPubPem: policyPubPem ?? '',
      previous: verdict.hasPrevious
        ? await identityFiles.pair('previousKey', 'previousCertificate')
        : null,
      state,
    };
  }

  // Beside files first, then the old pair's place, then the certificate: from there on a crash cannot lose the answer.
  async function install(answer: {
    readonly certPem: string;
    readonly beside: Readonly<Record<string, string | undefined>>;
    readonly before: typeof KEEP_PREVIOUS;
    readonly state: SensorState;
  }): Promise<InstallResult> {
    const nextKey = await readText(files, path, STATE_FILES.nextKey);
    const facts = keyWork.certificateFacts(answer.certPem);
    if (nextKey === null || facts === null || facts.keyDigest !== keyWork.keyDigest(nextKey)) {
      const detail = 'The certificate does not belong to the key that asked for it.';
      return { ok: false, reason: 'certificate_mismatch', detail };
    }
    for (const [name, text] of Object.entries(answer.beside)) {
      if (text !== undefined) await writeAtomic(files, path, name, { text, mode: OPEN_MODE });
    }
    const certificate_expires_at = new Date(facts.notAfterMs).toISOString();
    await storeState({ ...answer.state, certificate_expires_at });
    await identityFiles.carryOut(answer.before);
    const text = answer.certPem;
    await writeAtomic(files, path, STATE_FILES.nextCertificate, { text, mode: OPEN_MODE });
    const identity = await readIdentity(true);
    if (identity.kind === 'whole') return { ok: true, identity };
    return { ok: false, reason: 'disk_refuses', detail: 'The identity is not whole.' };
  }

  const refusing = (run: () => Promise<InstallResult>): Promise<InstallResult> =>
    inTurn(run).catch((error: unknown) => ({
      ok: false,
      reason: 'disk_refuses',
      detail: errorCode(error),
    }));

  return {
    path,
    pathOf: (name) => join(path, STATE_FILES[name]),
    readIdentity: () => inTurn(() => readIdentity()),
    async beginKey(generate) {
      const kept = await readText(files, path, STATE_FILES.nextKey);
      if (kept !== null && keyWork.keyDigest(kept) !== null) return kept;
      const text = await generate();
      await writeAtomic(files, path, STATE_FILES.nextKey, { text, mode: KEY_MODE });
      return text;
    },
    forgetKey: () => inTurn(() => removeDurably(files, path, STATE_FILES.nextKey)),
    installEnrollment: (answer) =>
      refusing(async () => {
        const stored = await loadState();
        return install({
          certPem: answer.certPem,
          beside: {
            [STATE_FILES.consoleCa]: answer.caPem,
            [STATE_FILES.policyKey]: answer.policyPubPem,
          },
          before: FORGET_PREVIOUS,
          state: {
            ...stored,
            certificate_expires_at: '',
            ...answer.state,
            sensor_id: answer.sensorId,
            trust_state: 'trusted',
            renewal_status: 'ok',
          },
        });
      }),
    installRenewal: (answer) =>
      refusing(async () => {
        const current = await readIdentity();
        if (current.kind !== 'whole')
          return { ok: false, reason: 'not_enrolled', detail: 'There is no identity to renew.' };
        return install({
          certPem: answer.certPem,
          beside: { [STATE_FILES.consoleCa]: answer.caPem },
          before: KEEP_PREVIOUS,
          state: { ...current.state, renewal_status: 'ok', ...answer.state },
        });
      }),
    async saveState(patch) {
      try {
        return await inTurn(async () => {
          const state = await loadState();
          if (state !== null) await storeState({ ...state, ...patch });
          return state !== null;
        });
      } catch (error) {
        logger.warn({ code: errorCode(error) }, 'sensor-state.json cannot be written');
        return false;
      }
    },
    forgetPrevious: () => inTurn(() => identityFiles.carryOut(FORGET_PREVIOUS)),
    fallBackToPrevious: () =>
      inTurn(async () => {
        const current = await readIdentity();
        if (current.kind !== 'whole' || current.previous === null) return current;
        await removeDurably(files, path, STATE_FILES.nextKey);
        await identityFiles.carryOut([...RESTORE_PREVIOUS, ...FORGET_PREVIOUS]);
        return readIdentity();
      }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await last;
      await unlock();
    },
  };
}
