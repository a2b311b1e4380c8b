// What a person answers in the first run: judged, tried where it names a store, kept, and only then counted as done. One
// answer at a time. Nothing of it reaches a database: the start that follows puts it in place. decision: D42
import type { Passwords } from '../../actors/access/passwords.ts';
import type { OpenedLicense } from '../../actors/license/envelope-signature.ts';
import type { SetupActor } from '../../actors/settings/setup.actor.ts';
import { isEmail } from '../../machines/console/access/account.rules.ts';
import {
  mayDo,
  mayUndo,
  nextStep,
  type SetupStep,
} from '../../machines/console/settings/setup.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { phaseOfLicense } from '../../machines/trust/license.rules.ts';
import type {
  ConnectionResult,
  ConnectionTests,
  TestedStore,
} from '../../storage/ports/plumbing/connection-tests.ts';
import { configurationText, type SetupDraft, withoutStep, withStep } from './setup-draft.ts';

type Answer<T = object> = Promise<({ readonly ok: true } & T) | Refusal>;
export type AdminAnswer = {
  readonly email: string;
  readonly displayName: string;
  readonly password: string;
};
export type SetupService = {
  draft(): SetupDraft;
  test(store: TestedStore, url: string): Answer<{ readonly about: string }>;
  platform(platform: 'standard' | 'telecom', baseUrl: string | null): Answer;
  /** Null: the embedded store; only database and analytics have one. */
  store(store: TestedStore, url: string | null): Answer<{ readonly about: string }>;
  license(envelope: unknown): Answer;
  admin(admin: AdminAnswer): Answer;
  undo(step: 'broker' | 'redis' | 'license'): Answer;
  /** Writes the configuration. */
  finish(): Answer;
};

export type SetupServiceDeps = {
  readonly actor: SetupActor;
  readonly tests: ConnectionTests;
  readonly passwords: Pick<Passwords, 'accept'>;
  readonly openLicense: (envelope: unknown) => OpenedLicense | Refusal;
  /** Why a store may not be reached by this address, before it is: a password would be on the wire. */
  readonly mistakeOfStore?: (store: TestedStore, url: string) => string | null;
  /** Every mistake that the next start would find in this console.yaml. */
  readonly mistakesOf: (configuration: string) => readonly string[];
  readonly keep: (draft: SetupDraft) => Promise<void>;
  readonly now: () => number;
};

const CONFIGURED_AS = {
  database: 'database_url',
  analytics: 'clickhouse_url',
  broker: 'redpanda_url',
  redis: 'redis_url',
} as const satisfies Record<TestedStore, string>;
const EMBEDDED = 'the embedded store';

/** Makes the service on the answers that were kept. */
export function createSetupService(deps: SetupServiceDeps, kept: SetupDraft): SetupService {
  const { actor, tests } = deps;
  let draft = kept;
  const inTurn = createTurns();

  async function answer(step: SetupStep, next: SetupDraft): Answer {
    const mistakes = deps.mistakesOf(configurationText(next));
    if (mistakes.length > 0) {
      return refuse('schema_violation', mistakes.join('; '), {
        errors: mistakes.map((detail) => ({ pointer: '', detail })),
      });
    }
    await deps.keep(next);
    draft = next;
    actor.noteDone(step);
    return { ok: true };
  }

  function tryStore(name: TestedStore, url: string): Promise<ConnectionResult> {
    const mistake = deps.mistakeOfStore?.(name, url) ?? null;
    return mistake === null ? tests[name](url) : Promise.resolve({ ok: false, reason: mistake });
  }

  async function store(name: TestedStore, url: string | null): Answer<{ readonly about: string }> {
    const tried = url === null ? { ok: true as const, about: EMBEDDED } : await tryStore(name, url);
    if (!tried.ok) return refuse('connection_failed', tried.reason);
    const { [CONFIGURED_AS[name]]: _before, ...others } = draft.configuration;
    const configuration = { ...others, ...(url === null ? {} : { [CONFIGURED_AS[name]]: url }) };
    const answered = await answer(name, withStep(draft, name, { configuration }));
    return answered.ok ? { ok: true, about: tried.about } : answered;
  }

  /** Runs an answer when its step may be answered now, and still may when it is its turn. */
  function when<T>(step: SetupStep, run: () => Answer<T>): Answer<T> {
    return inTurn(async () => outOfOrder(actor, step) ?? (await run()));
  }

  return {
    draft: () => draft,
    async test(name, url) {
      const tried = await tryStore(name, url);
      return tried.ok ? tried : refuse('connection_failed', tried.reason);
    },
    platform: (platform, baseUrl) =>
      when('platform', () => {
        const { base_url: _before, ...others } = draft.configuration;
        const address = baseUrl === null ? {} : { base_url: baseUrl };
        const configuration = { ...others, platform, ...address };
        return answer('platform', withStep(draft, 'platform', { configuration }));
      }),
    store: (name, url) => when(name, () => store(name, url)),
    license: (envelope) =>
      when('license', async () => {
        const opened = deps.openLicense(envelope);
        if (!opened.ok) return opened;
        if (phaseOfLicense(opened.facts, deps.now()) === 'expired') {
          return refuse('license_ended', 'The license is past the end of its grace period.');
        }
        return answer('license', withStep(draft, 'license', { license: opened.envelope }));
      }),
    admin: (admin) =>
      when('admin', async () => {
        const judged = await judgeAdmin(deps, admin);
        if (!judged.ok) return judged;
        const { email, displayName } = admin;
        const kept = { email, display_name: displayName, password_hash: judged.hash };
        return answer('admin', withStep(draft, 'admin', { admin: kept }));
      }),
    undo: (step) =>
      inTurn(async () => {
        if (!actor.state().takesSteps || !mayUndo(step)) return notNow(actor);
        const next = withoutStep(draft, step);
        await deps.keep(next);
        draft = next;
        actor.noteUndone(step);
        return { ok: true };
      }),
    finish: () =>
      inTurn(async () => {
        if (!actor.state().canFinish) return notNow(actor);
        const { state, reason } = await actor.finish();
        if (state === 'restarting') return { ok: true };
        return refuse('internal', `The configuration could not be written: ${reason}`);
      }),
  };
}

async function judgeAdmin(
  { passwords }: Pick<SetupServiceDeps, 'passwords'>,
  { email, password }: AdminAnswer,
): Answer<{ readonly hash: string }> {
  const wrongEmail = { pointer: '/email', detail: 'must be an e-mail address' };
  const errors = isEmail(email) ? [] : [wrongEmail];
  const accepted = await passwords.accept(password, email);
  if (accepted.ok && errors.length === 0) return accepted;
  if (accepted.ok) return refuse('schema_violation', 'The answer does not fit.', { errors });
  return { ...accepted, errors: [...errors, ...(accepted.errors ?? [])] };
}

function outOfOrder(actor: SetupActor, step: SetupStep): Refusal | null {
  const { takesSteps, done } = actor.state();
  return takesSteps && mayDo(step, done) ? null : notNow(actor);
}

function notNow(actor: SetupActor): Refusal {
  const { state, done } = actor.state();
  const missing = nextStep(done);
  const detail = missing === null ? `The setup is ${state}.` : `The step ${missing} comes first.`;
  return refuse('setup_out_of_order', detail);
}

function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };
}
