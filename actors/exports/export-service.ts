// Exports as admins manage them: a target that is judged before it is stored, its secret sealed and never told again; a try
// that writes, reads back and removes one small object; days that are ordered again. decision: D157, D158; invariant: I11
import {
  isDayClosed,
  isDayExpired,
  type TableDay,
} from '../../machines/console/exports/export-run.rules.ts';
import {
  type ExportTarget,
  mistakesOfTarget,
  type TargetMistake,
} from '../../machines/console/exports/target.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { EXPORT_TEST_TIMEOUT_MS } from '../../machines/limits.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type {
  ExportRow,
  ExportStore,
  ExportTargetRow,
} from '../../storage/ports/exports/export-store.ts';
import type { ExportDestination, Exporter } from '../../storage/ports/exports/exporter.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { KeptSecret } from '../access/reseal.ts';
import { areCertificates } from '../outbound/ca-pem.ts';
import { mistakeOfProxy, mistakeOfTarget } from '../outbound/destination-mistakes.ts';

/** Whose secret it is, as the seal binds it. */
export const EXPORT_SECRET_CONTEXT = 'export-target';
/** The secret of the target, for whoever seals it again. */
export function exportSecretOf(exports: Pick<ExportStore, 'target' | 'reseal'>): KeptSecret {
  return {
    context: EXPORT_SECRET_CONTEXT,
    read: async () => (await exports.target())?.secretSealed ?? null,
    reseal: exports.reseal,
  };
}
const TEST_NAME = '_service-console-test.txt';

export type ExportTested = { readonly isWritten: boolean; readonly detail: string };
export type ExportService = {
  /** `secret` absent: the one before stays. */
  putTarget(
    input: AuditContext & {
      readonly revision: number;
      readonly target: ExportTarget;
      readonly secret?: string | undefined;
    },
  ): Promise<{ readonly ok: true; readonly target: ExportTargetRow } | Refusal>;
  test(
    input: AuditContext,
  ): Promise<{ readonly ok: true; readonly tested: ExportTested } | Refusal>;
  order(
    input: AuditContext & TableDay,
  ): Promise<{ readonly ok: true; readonly run: ExportRow } | Refusal>;
  /** Null: the secret cannot be opened any more. */
  destinationOf(target: ExportTargetRow): ExportDestination | null;
};
export type ExportServiceDeps = {
  readonly exports: Pick<ExportStore, 'target' | 'putTarget' | 'order'>;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly exporter: Pick<Exporter, 'put' | 'remove'>;
  readonly sealer: Sealer;
  readonly allowList: () => readonly string[];
  /** How long the event store keeps rows. */
  readonly keptDays: () => number;
};

const MISSING = refuse('export_target_missing', 'Nothing says yet where exports go.');

/** Makes the service. Every method rejects with StoreUnavailable. */
export function createExportService(deps: ExportServiceDeps): ExportService {
  const destinationOf = (target: ExportTargetRow): ExportDestination | null => {
    const { place, prefix, secretSealed } = target;
    const opened =
      secretSealed === null ? null : deps.sealer.open(secretSealed, EXPORT_SECRET_CONTEXT);
    if (secretSealed !== null && opened === null) return null;
    return { place, prefix, secretAccessKey: opened, allowList: deps.allowList() };
  };
  return {
    destinationOf,
    putTarget: (input) => putTarget(deps, input),
    test: (input) => test(deps, destinationOf, input),
    async order(input) {
      if ((await deps.exports.target()) === null) return MISSING;
      if (!isDayClosed(input.day, input.nowMs)) {
        return refuse('export_day_open', `${input.day} is not over in UTC, or only just.`);
      }
      // What is left of the day would take the place of the whole of it.
      if (isDayExpired(input.day, deps.keptDays(), input.nowMs)) {
        return refuse('export_day_expired', `Rows of ${input.day} may be gone already.`);
      }
      const run = await deps.exports.order(input);
      if (run === 'active') return refuse('export_running', `${input.day} is being exported.`);
      return { ok: true, run };
    },
  };
}

async function putTarget(
  deps: ExportServiceDeps,
  input: Parameters<ExportService['putTarget']>[0],
): ReturnType<ExportService['putTarget']> {
  const { target, secret, revision, ...context } = input;
  const before = await deps.exports.target();
  const secretSealed = sealedFor(deps, target, secret, before);
  const errors = mistakesOf(deps, target, secretSealed);
  if (errors.length > 0) {
    return refuse('export_target_refused', 'Some fields cannot be used like this.', { errors });
  }
  const put = await deps.exports.putTarget({
    ...{ ...context, revision, target: { ...target, secretSealed } },
  });
  if (put !== 'conflict') return { ok: true, target: put };
  return refuse('export_target_conflict', `Its revision is not ${revision} any more.`);
}

/** A key that moves to another service or user is given again: nobody sends a stored secret to a place of their choice. */
function sealedFor(
  { sealer }: ExportServiceDeps,
  { place }: ExportTarget,
  secret: string | undefined,
  before: ExportTargetRow | null,
): string | null {
  if (place.kind === 'directory') return null;
  if (secret !== undefined) return sealer.seal(secret, EXPORT_SECRET_CONTEXT);
  if (before === null || before.place.kind !== 's3') return null;
  const isSame =
    before.place.endpoint === place.endpoint && before.place.accessKeyId === place.accessKeyId;
  return isSame ? before.secretSealed : null;
}

function mistakesOf(
  { allowList }: ExportServiceDeps,
  target: ExportTarget,
  secretSealed: string | null,
): readonly TargetMistake[] {
  const mistakes = [...mistakesOfTarget(target)];
  const { place } = target;
  if (place.kind !== 's3') return mistakes;
  if (secretSealed === null) {
    const detail = 'is needed; with another endpoint or access key it is given again';
    mistakes.push({ pointer: '/s3/secret_access_key', detail });
  }
  if (place.caPem !== null && !areCertificates(place.caPem)) {
    mistakes.push({ pointer: '/s3/ca_pem', detail: 'certificates in PEM, and nothing else' });
  }
  const { proxyUrl = null } = place;
  const wrong = proxyUrl === null ? null : mistakeOfProxy(proxyUrl, allowList());
  if (wrong !== null) mistakes.push({ pointer: '/s3/proxy_url', detail: wrong });
  if (mistakes.some(({ pointer }) => pointer === '/s3/endpoint')) return mistakes;
  // A literal address is told at once; what a name resolves to is judged when something is sent.
  const { hostname } = new URL(place.endpoint);
  const detail = mistakeOfTarget(hostname, allowList());
  return detail === null ? mistakes : [...mistakes, { pointer: '/s3/endpoint', detail }];
}

async function test(
  deps: ExportServiceDeps,
  destinationOf: ExportService['destinationOf'],
  { actor, from, nowMs }: AuditContext,
): ReturnType<ExportService['test']> {
  const target = await deps.exports.target();
  if (target === null) return MISSING;
  const tested = await tryOut(deps, destinationOf(target));
  await deps.audit.append([
    {
      ...{ actor, from, atMs: nowMs, action: 'export.test', target: target.place.kind },
      ...{ result: tested.isWritten ? 'ok' : 'failed', detail: { told: tested.detail } },
    },
  ]);
  return { ok: true, tested };
}

async function tryOut(
  { exporter }: ExportServiceDeps,
  destination: ExportDestination | null,
): Promise<ExportTested> {
  if (destination === null) {
    return { isWritten: false, detail: 'The secret cannot be opened any more; give it again.' };
  }
  try {
    const signal = AbortSignal.timeout(EXPORT_TEST_TIMEOUT_MS);
    const text = 'This object was written by a test of the Console, and may be removed.\n';
    await exporter.put({ destination, name: TEST_NAME, text }, signal);
    await exporter.remove({ destination, names: [TEST_NAME] }, signal);
    return { isWritten: true, detail: 'An object was written, read back and removed.' };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { isWritten: false, detail: detail.slice(0, 512).toWellFormed() };
  }
}
