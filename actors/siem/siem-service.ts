// SIEM destinations as admins manage them: judged before they are stored, secrets sealed and never told again. decision: D153;
// invariant: I11
import {
  addressOf,
  kindNamed,
  type kindOf,
  mistakesOfSiemUrl,
  mistakesOfToken,
  SIEM_KIND_NAMES,
  type SiemMistake,
} from '../../machines/console/siem/kinds/kinds.ts';
import { newSiemStanding } from '../../machines/console/siem/siem-standing.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { SIEM_START_BACK_MAX_MS } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { auditEntryOf } from '../../storage/ports/audit/audit-entry.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { SiemOptions, SiemRow, SiemStore } from '../../storage/ports/siem/siem-store.ts';
import { areCertificates } from '../outbound/ca-pem.ts';
import { mistakeOfProxy, mistakeOfTarget } from '../outbound/destination-mistakes.ts';
import { hostOf } from '../outbound/guarded-connect.ts';
import type { Chance } from '../trust/chance.ts';
import { openSiemSecrets, partsOfUrl, sealSiemSecrets, wholeUrl } from './siem-secrets.ts';
import type { SiemSender, SiemSent } from './siem-sender.ts';

export type SiemInput = {
  readonly kind: string;
  readonly name: string;
  readonly targetUrl: string;
  readonly token: string | null;
  readonly filter: string;
  /** Events received from then on are forwarded; now when absent. */
  readonly startMs?: number | undefined;
  readonly options: Partial<SiemOptions>;
};
/** What is absent stays; a token of null removes it. */
export type SiemChange = {
  readonly name?: string | undefined;
  readonly targetUrl?: string | undefined;
  readonly token?: string | null | undefined;
  readonly filter?: string | undefined;
  readonly options: Partial<SiemOptions>;
};
type Of = AuditContext & { readonly destinationId: string };
type Changed = { readonly ok: true; readonly destination: SiemRow } | Refusal;

export type SiemService = {
  create(input: AuditContext & SiemInput): Promise<Changed>;
  change(input: Of & { readonly revision: number; readonly change: SiemChange }): Promise<Changed>;
  pause(input: Of): Promise<Changed>;
  /** Sends on, from an earlier instant when one is given. */
  resume(input: Of & { readonly fromMs: number | null }): Promise<Changed>;
  remove(input: Of): Promise<{ readonly ok: true } | Refusal>;
  /** Sends one test event now, whatever the state. */
  test(input: Of): Promise<{ readonly ok: true; readonly sent: SiemSent } | Refusal>;
};
export type SiemServiceDeps = {
  readonly siem: SiemStore;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly sealer: Sealer;
  readonly sender: SiemSender;
  readonly allowList: () => readonly string[];
  readonly chance: Pick<Chance, 'newId'>;
};

const DEFAULTS: SiemOptions = { caPem: null, proxyUrl: null, category: null, sourceName: null };
const NOT_FOUND = refuse('not_found', 'There is no such SIEM destination.');

/** Makes the service. Every method rejects with StoreUnavailable. */
export function createSiemService(deps: SiemServiceDeps): SiemService {
  const { siem } = deps;
  return {
    create: (input) => create(deps, input),
    change: (input) => change(deps, input),
    pause: async (input) =>
      ordered(await siem.order({ ...input, event: { type: 'destination.paused' } })),
    async resume({ fromMs, ...input }) {
      const mistakes = mistakesOfStart(fromMs, input.nowMs);
      if (mistakes.length > 0) return refused(mistakes);
      return ordered(
        await siem.order({ ...input, event: { type: 'destination.resumed', fromMs } }),
      );
    },
    remove: async (input) => ((await siem.remove(input)) ? { ok: true } : NOT_FOUND),
    test: (input) => test(deps, input),
  };
}

async function create(
  deps: SiemServiceDeps,
  {
    kind: text,
    name,
    targetUrl: url,
    token,
    filter,
    startMs,
    options: given,
    ...context
  }: AuditContext & SiemInput,
): Promise<Changed> {
  const kind = kindNamed(text);
  if (kind === null) {
    const detail = `is not one of ${SIEM_KIND_NAMES.join(', ')}`;
    return refused([{ pointer: '/kind', detail }]);
  }
  const options = { ...DEFAULTS, ...given };
  const mistakes = [
    ...addressMistakes(deps, { kind, url }),
    ...mistakesOfToken(kind, token),
    ...mistakesOfFilter(filter),
    ...mistakesOfStart(startMs ?? null, context.nowMs),
    ...optionMistakes(deps, options),
  ];
  if (mistakes.length > 0) return refused(mistakes);
  const destinationId = deps.chance.newId();
  const { targetUrl, path } = partsOfUrl(kind, url);
  const secretSealed = sealSiemSecrets(destinationId, { token, path }, deps.sealer);
  const created = await deps.siem.create({
    ...context,
    destination: {
      ...{ destinationId, kind, name, targetUrl, secretSealed, hasToken: token !== null, filter },
      ...{ options, standing: newSiemStanding(startMs ?? context.nowMs) },
    },
  });
  if (created === 'full') return refuse('siem_destinations_full', 'No more can be added.');
  if (created === 'conflict') return nameTaken();
  return { ok: true, destination: created };
}

async function change(
  deps: SiemServiceDeps,
  { change: given, ...input }: Parameters<SiemService['change']>[0],
): Promise<Changed> {
  const row = await deps.siem.get(input.destinationId);
  if (row === null) return NOT_FOUND;
  const { kind, destinationId } = row;
  const options = { ...row.options, ...given.options };
  const mistakes = [
    ...(given.targetUrl === undefined ? [] : addressMistakes(deps, { kind, url: given.targetUrl })),
    ...(given.token === undefined ? [] : mistakesOfToken(kind, given.token)),
    ...(given.filter === undefined ? [] : mistakesOfFilter(given.filter)),
    ...optionMistakes(deps, options),
  ];
  if (mistakes.length > 0) return refused(mistakes);
  const { name = row.name, filter = row.filter } = given;
  const before = openSiemSecrets(row, deps.sealer);
  if (before === null && (given.token === undefined || given.targetUrl === undefined)) {
    const detail = 'has to be given again: what was sealed cannot be opened any more';
    return refused([{ pointer: '/token', detail }]);
  }
  const known = before ?? { token: null, path: null };
  const url = given.targetUrl ?? wholeUrl(row.targetUrl, known);
  const { targetUrl, path } = partsOfUrl(kind, url);
  const token = given.token === undefined ? known.token : given.token;
  const isSame = token === known.token && path === known.path && before !== null;
  const secretSealed = isSame
    ? row.secretSealed
    : sealSiemSecrets(destinationId, { token, path }, deps.sealer);
  const patch = { name, targetUrl, secretSealed, hasToken: token !== null, filter, options };
  const changed = await deps.siem.change({ ...input, patch });
  if (changed === 'not_found') return NOT_FOUND;
  return changed === 'conflict' ? nameTaken() : { ok: true, destination: changed };
}

async function test(deps: SiemServiceDeps, input: Of): ReturnType<SiemService['test']> {
  const row = await deps.siem.get(input.destinationId);
  if (row === null) return NOT_FOUND;
  const event = testEventOf(deps.chance.newId(), input.nowMs);
  const signal = new AbortController().signal;
  const sent = await deps.sender.send({ row, events: [event], signal });
  const entry = auditEntryOf(input, 'siem.test', input.destinationId, 'ok');
  const detail = { outcome: sent.outcome.kind, status: sent.status };
  await deps.audit.append([{ ...entry, detail }]);
  return { ok: true, sent };
}

/** An event that says what it is. */
export function testEventOf(id: string, nowMs: number): StoredEvent {
  const at = new Date(nowMs).toISOString();
  return {
    ...{ event_id: id.replaceAll('-', '').padEnd(32, '0').slice(0, 32), schema_version: 1 },
    ...{ observed_at: at, received_at: at, event_kind: 'process_exec', severity: 'info' },
    message: 'Test event of the Console: nothing happened.',
    ...{ sensor_id: '00000000-0000-0000-0000-000000000000', node_name: 'test-node' },
    process: { exec_id: 'test', pid: 1, uid: 0, binary: '/bin/true' },
  };
}

function ordered(row: SiemRow | 'not_found'): Changed {
  return row === 'not_found' ? NOT_FOUND : { ok: true, destination: row };
}

function refused(errors: readonly SiemMistake[]): Refusal {
  return refuse('siem_destination_refused', 'Some fields cannot be used like this.', { errors });
}

function nameTaken(): Refusal {
  return refuse('siem_destination_conflict', 'It was changed meanwhile, or another has this name.');
}

function addressMistakes(
  { allowList }: SiemServiceDeps,
  { kind, url: text }: { readonly kind: Parameters<typeof kindOf>[0]; readonly url: string },
): readonly SiemMistake[] {
  const mistakes = mistakesOfSiemUrl(kind, text);
  const url = addressOf(text);
  if (mistakes.length > 0 || url === null) return mistakes;
  const detail = mistakeOfTarget(hostOf(url), allowList());
  return detail === null ? [] : [{ pointer: '/target_url', detail }];
}

function mistakesOfFilter(filter: string): readonly SiemMistake[] {
  if (filter === '') return [];
  const parsed = parseCondition(filter);
  return parsed.ok ? [] : [{ pointer: '/filter', detail: `at ${parsed.at}: ${parsed.detail}` }];
}

function mistakesOfStart(startMs: number | null, nowMs: number): readonly SiemMistake[] {
  if (startMs === null) return [];
  if (startMs > nowMs) return [{ pointer: '/start_at', detail: 'must not be in the future' }];
  if (startMs < nowMs - SIEM_START_BACK_MAX_MS) {
    return [{ pointer: '/start_at', detail: 'is further back than events are kept' }];
  }
  return [];
}

function optionMistakes(
  { allowList }: SiemServiceDeps,
  { caPem, proxyUrl }: SiemOptions,
): readonly SiemMistake[] {
  const mistakes: SiemMistake[] = [];
  if (caPem !== null && !areCertificates(caPem)) {
    mistakes.push({ pointer: '/options/ca_pem', detail: 'certificates in PEM, and nothing else' });
  }
  const detail = proxyUrl === null ? null : mistakeOfProxy(proxyUrl, allowList());
  if (detail !== null) mistakes.push({ pointer: '/options/proxy_url', detail });
  return mistakes;
}
