// The keys this node trusts for policies. They come when it enrolls, and change only by a statement that one of them
// signed. What must not be forgotten, the number of the last statement and the retired keys, is on disk before the keys
// themselves; a crash between the two is finished by the next start. decision: D79
import { hash } from 'node:crypto';
import { join } from 'node:path';
import Type from 'typebox';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { PolicyKey } from '../../../actors/runtime/policy-keys.ts';
import { SIGNING_KEYS_MAX_BYTES } from '../../../machines/policy/limits.ts';
import type { RotationRefusal, TrustedKeys } from '../../../machines/policy/signing-keys.rules.ts';
import { parserOf } from '../../../machines/wire/parse.ts';
import { KeyId, type KeyRotation, Sha256 } from '../../../machines/wire/policy.ts';
import { exactKeysOf } from '../../engine/policy/exact-keys.ts';
import { readText, writeAtomic } from '../../state-directory/atomic-file.ts';
import type { Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';

const RECORD = 'policy-keys.json';
const MODE = 0o600;
const OPEN_MODE = 0o644;
const RETIRED_MAX = 4_096;
const RecordSchema = Type.Object({
  sequence: Type.Integer({ minimum: 0 }),
  retired_key_ids: Type.Array(KeyId, { maxItems: RETIRED_MAX }),
  /** The text of `policy-signing.pub` before this statement, and after. */
  before_sha256: Sha256,
  after_sha256: Sha256,
  after_pem: Type.String({ maxLength: SIGNING_KEYS_MAX_BYTES }),
});
type KeyRecord = Type.Static<typeof RecordSchema>;
const parse = parserOf(RecordSchema);

export type NodeKeys = {
  /** None when the file is not as it was written. */
  keys(): readonly PolicyKey[];
  /** As the wire names them. */
  sha256(): string;
  /** Follows statements in their order; answers whether one was taken, and why the last one was not. */
  take(rotations: readonly KeyRotation[]): Promise<KeysTaken>;
};
export type KeysTaken = { readonly taken: number; readonly refusal: RotationRefusal | null };

type Loaded = { readonly text: string; readonly trusted: TrustedKeys };

/** Finishes what a crash left, then reads the keys. Rejects when the disk refuses. */
export async function openNodeKeys(
  files: Files,
  stateDir: string,
  logger: Logger,
): Promise<NodeKeys> {
  const { keysDigestOf, verifyRotation } = await import('../../../actors/runtime/policy-keys.ts');
  const disk = keyFiles(files, stateDir, logger);
  let keys = await exactKeysOf((await disk.load()).text);

  async function take(rotations: readonly KeyRotation[]): Promise<KeysTaken> {
    // This node may have been enrolled again since.
    const { text, trusted } = await disk.load();
    let next = trusted;
    let taken = 0;
    let refusal: RotationRefusal | null = null;
    for (const statement of [...rotations].sort((a, b) => a.sequence - b.sequence)) {
      if (statement.sequence <= next.sequence) continue;
      const result = verifyRotation(next, statement);
      refusal = result.ok ? null : result.code;
      if (!result.ok) continue;
      next = result.keys;
      taken += 1;
    }
    const after = taken > 0 ? await disk.keep(text, next) : text;
    keys = await exactKeysOf(after);
    return { taken, refusal };
  }

  return { keys: () => keys, sha256: () => keysDigestOf(keys.map(({ id }) => id)), take };
}

function keyFiles(files: Files, stateDir: string, logger: Logger) {
  const write = (name: string, text: string, mode: number) =>
    writeAtomic(files, stateDir, name, { text, mode });

  async function readRecord(): Promise<KeyRecord | null> {
    const text = await readText(files, stateDir, RECORD);
    const parsed = text === null ? null : parse(text);
    if (parsed !== null && !parsed.ok) logger.error({}, `${RECORD} cannot be read`);
    return parsed?.ok === true ? parsed.value : null;
  }

  async function readPub(): Promise<string> {
    const facts = await files.stat(join(stateDir, STATE_FILES.policyKey));
    if (facts === null || facts.bytes > SIGNING_KEYS_MAX_BYTES) return '';
    return (await readText(files, stateDir, STATE_FILES.policyKey)) ?? '';
  }

  return {
    // An enrollment puts other keys there: statements are counted anew then, but what was retired stays so.
    async load(): Promise<Loaded> {
      let text = await readPub();
      const record = await readRecord();
      if (record !== null && digestOf(text) === record.before_sha256) {
        text = record.after_pem;
        await write(STATE_FILES.policyKey, text, OPEN_MODE);
      }
      const isOurs = record !== null && digestOf(text) === record.after_sha256;
      const found = await exactKeysOf(text);
      return {
        text,
        trusted: {
          sequence: isOurs ? record.sequence : 0,
          keys: found.map(({ id, pem }) => ({ id, pem })),
          retired: record?.retired_key_ids ?? [],
        },
      };
    },
    /** What may not be forgotten first, then the keys; answers their text. */
    async keep(before: string, next: TrustedKeys): Promise<string> {
      const after = next.keys.map(({ pem }) => pem).join('');
      const record: KeyRecord = {
        sequence: next.sequence,
        retired_key_ids: [...next.retired].slice(-RETIRED_MAX),
        before_sha256: digestOf(before),
        after_sha256: digestOf(after),
        after_pem: after,
      };
      await write(RECORD, `${JSON.stringify(record, null, 2)}\n`, MODE);
      await write(STATE_FILES.policyKey, after, OPEN_MODE);
      return after;
    },
  };
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}
