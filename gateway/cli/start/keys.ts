// `service-console keys`: lists, changes and retires the keys of the data directory, which nothing else uses meanwhile.
// decision: D70; invariant: I7
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resealAll } from '../../../actors/access/reseal.ts';
import { exportSecretOf } from '../../../actors/exports/export-service.ts';
import { createLogger } from '../../../actors/runtime/json-log.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import {
  CLIENT_CERTIFICATE_TTL_MS,
  KEY_LIFETIME_MS,
  ROOT_CERTIFICATE_TTL_MS,
} from '../../../machines/limits.ts';
import { DAY_MS } from '../../../machines/units.ts';
import { rotateAuditCheckpointKey } from '../../../storage/keys/audit-checkpoint-key.ts';
import { rotateAuthority } from '../../../storage/keys/authority-rotation.ts';
import {
  openSealer,
  retiredSealers,
  retireSealers,
  rotateSealer,
} from '../../../storage/keys/sealer.ts';
import type { ConsoleConfig } from '../../config/config.ts';
import { keysFolder, SEALER_FILE } from '../../process/keys.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { openRelationalStore } from './open-stores.ts';
import { readConfig } from './quickstart.ts';

export type KeysOptions =
  | { readonly action: 'list' }
  | { readonly action: 'reseal' }
  | { readonly action: 'rotate'; readonly key: string; readonly isForced: boolean };

/** Each key: where it lies, and how long it should serve. */
const KEYS = [
  ['ca', 'console-ca.key.pem', ROOT_CERTIFICATE_TTL_MS],
  ['sealer', SEALER_FILE, KEY_LIFETIME_MS],
  ['audit-checkpoint', 'audit-checkpoint.ed25519', KEY_LIFETIME_MS],
  ['policy-signing', 'policy-signing.ed25519', KEY_LIFETIME_MS],
] as const;

const STEPS = {
  prepared:
    'A new root stands beside the old one; the next start tells it to every node that renews.\nRun this again after 30 days, when every node knows it.',
  activated:
    'The new root signs from the next start on; what the old one signed stays good.\nRun this again after 30 days, when nothing of the old one is in use.',
  retired: 'The old root is gone: what it signed is refused from the next start on.',
} as const;

/** Resolves to the exit code. */
export async function runKeys(options: KeysOptions): Promise<number> {
  const config = readConfig(process.env, process.getuid?.() === 0);
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  const unlock = lockDataDir(config.dataDir);
  try {
    if (options.action === 'rotate') return await rotate(config, options);
    return options.action === 'list' ? list(config) : await reseal(config);
  } finally {
    await unlock();
  }
}

function list(config: ConsoleConfig): number {
  const folder = keysFolder(config);
  for (const [name, file, lifetimeMs] of KEYS) {
    const path = join(folder, file);
    const days = (ms: number) => Math.floor(ms / DAY_MS);
    const age = existsSync(path) ? Date.now() - statSync(path).mtimeMs : null;
    const said =
      age === null
        ? 'not made yet'
        : `${days(age)} days old, serves ${days(lifetimeMs)}${age > lifetimeMs ? ': change it' : ''}`;
    process.stdout.write(`${name.padEnd(18)}${said}\n`);
  }
  return EXIT.ok;
}

async function rotate(
  config: ConsoleConfig,
  { key, isForced }: Extract<KeysOptions, { readonly action: 'rotate' }>,
): Promise<number> {
  const folder = keysFolder(config);
  const nowMs = Date.now();
  if (key === 'ca') {
    const lifetimeMs = CLIENT_CERTIFICATE_TTL_MS;
    const done = await rotateAuthority({ folder, nowMs, lifetimeMs, isForced });
    if (!done.ok) throw new CommandFailure(EXIT.refused, done.reason, 'or use --force');
    return tell(STEPS[done.step]);
  }
  if (key === 'sealer') {
    await rotateSealer({ folder, name: SEALER_FILE }, nowMs);
    return tell('The new key seals from now on. Then: service-console keys reseal');
  }
  if (key === 'audit-checkpoint') {
    const done = await rotateAuditCheckpointKey(folder, nowMs);
    if (!done.ok) throw new CommandFailure(EXIT.failed, done.reason);
    return tell('The new key signs from now on; keep every keys/audit-checkpoint*.pub.pem.');
  }
  const isPolicy = key === 'policy-signing';
  const why = isPolicy
    ? 'nodes take another policy key by a signed statement only'
    : `no key ${key}`;
  throw new CommandFailure(EXIT.usage, why, 'the keys: ca, sealer, audit-checkpoint');
}

async function reseal(config: ConsoleConfig): Promise<number> {
  const place = { folder: keysFolder(config), name: SEALER_FILE };
  const clock = createWheelClock();
  const closers: (() => Promise<void>)[] = [];
  const logger = createLogger('warn');
  const onClose = (close: () => Promise<void>) => void closers.push(close);
  try {
    const { users, secondFactors, sso, webhooks, siem, digests, exports } =
      await openRelationalStore({
        ...{ config, clock, logger, onClose },
      });
    const sealer = await openSealer(place);
    const kept = [exportSecretOf(exports)];
    const stores = { users, secondFactors, sso, webhooks, siem, digests, kept };
    const { sealed, changed, unreadable } = await resealAll({ ...stores, sealer });
    tell(`Sealed again: ${sealed}.`);
    for (const one of unreadable) tell(`No key opens ${one}: reset it.`);
    if (changed > 0 || unreadable.length > 0) {
      return (await retiredSealers(place)) > 0
        ? tell('The keys before stay.', EXIT.failed)
        : EXIT.ok;
    }
    return tell(`Keys removed: ${await retireSealers(place, Date.now())}.`);
  } finally {
    for (const close of closers.reverse()) await close();
    clock.stop();
  }
}

function tell(text: string, code: number = EXIT.ok): number {
  process.stdout.write(`${text}\n`);
  return code;
}
