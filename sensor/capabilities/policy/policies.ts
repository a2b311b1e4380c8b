// The policies of this node: what lies in `compiled-policies/` is verified, read, compiled and given to the engine, again
// whenever the folder is another. A version that is refused never takes the place of one that is in force. decision: D45
import { dirname, join } from 'node:path';
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import type { PolicyFact } from '../../actors/facts.ts';
import type { Parts } from '../../actors/parts.ts';
import type { EngineRun } from '../../engine/engine-launcher.ts';
import { compileFile } from '../../engine/policy/compile-policy.ts';
import { type JudgedPolicy, judgePolicy } from '../../engine/policy/judge-policies.ts';
import { readPolicyFiles } from '../../engine/policy/policy-files.ts';
import { makeDirectoryDurably, writeAtomic } from '../../state-directory/atomic-file.ts';
import { errorCode } from '../../state-directory/file-port.ts';
import { isObject } from '../../transport/answer.ts';
import type { EngineMessage } from '../engine/engine-messages.ts';
import { createPolicyCounts } from './policy-counts.ts';

type Taken = JudgedPolicy & { readonly ok: true };
type Run = Pick<EngineRun, 'readPolicies' | 'gone'>;
/** How the engine takes policies: from the file, by a way of its own that it tells of, not at all, or not known yet. */
type Way = 'file' | 'own' | 'none' | 'unknown';
export type PolicyKeeper = {
  /** Where the engine finds what is compiled. */
  readonly file: string;
  /** This engine runs from now on. */
  useEngine(run: Run): void;
  /** A word of the engine, of whatever it speaks. */
  hear(word: EngineMessage): void;
  /** Each policy and its state, as the wire has it. */
  loaded(): EngineReport['loaded_policies'];
  /** Resolves when nothing is written any more. What is in force stays so as long as the engine runs. */
  stop(): Promise<void>;
};
type KeeperParts = Pick<Parts, 'config' | 'logger' | 'clock' | 'facts'> & {
  readonly ports: Pick<Parts['ports'], 'files'>;
};

const FILE = join('run', 'policies');
const COUNTS = [
  'matched',
  'signals',
  'signals_failed',
  'refusals',
  'monitored_signals',
  'monitored_refusals',
];
const DEEDS = ['signals', 'refusals'];
const OWN_MAX = 1_024;
const NO_ENGINE = 'the engine that runs carries out no policies';

/** Reads the folder once, then every few seconds; `onChange` hears that a policy's state is another. Never rejects. */
export async function startPolicies(
  parts: KeeperParts,
  onChange: () => void,
): Promise<PolicyKeeper> {
  const { config, logger, clock, facts } = parts;
  const { files } = parts.ports;
  const file = join(config.stateDir, FILE);
  let judged: readonly JudgedPolicy[] = [];
  const taken = new Map<string, Taken>();
  let engine: Run | null = null;
  let way: Way = 'unknown';
  let own: readonly EngineMessage[] = [];
  const sums = createPolicyCounts();
  let heard = new Map<string, EngineMessage>();
  let hearing = new Map<string, EngineMessage>();
  let setReason = '';
  let revision = 0;
  let written: string | null = null;
  let told = '';
  let isStopped = false;
  let timer = 0;

  async function scan(): Promise<void> {
    const found = await readPolicyFiles(files, config.stateDir);
    judged = await Promise.all(found.map(judgePolicy));
    const names = new Set(judged.map(({ name }) => name));
    for (const name of taken.keys()) if (!names.has(name)) taken.delete(name);
    sums.keep(names);
    for (const one of judged) if (one.ok) taken.set(one.name, one);
    await give();
    tell();
  }

  // An engine that was given nothing and has nothing to forget is left alone.
  async function give(): Promise<void> {
    const lines = [...taken.values()].map(({ compiled }) => compiled);
    const content = lines.join('');
    if (content === written) return;
    if (written === null && content === '' && (await files.stat(file)) === null) return;
    const text = compileFile(revision + 1, lines);
    await makeDirectoryDurably(files, dirname(file), 0o700);
    await writeAtomic(files, dirname(file), 'policies', { text, mode: 0o600 });
    revision += 1;
    written = content;
    engine?.readPolicies?.();
  }

  async function tick(): Promise<void> {
    try {
      await scan();
    } catch (error) {
      logger.warn({ code: errorCode(error) }, 'the policies cannot be given to the engine now');
    }
    arm();
  }

  let running: Promise<void> = Promise.resolve();
  function arm(): void {
    if (isStopped) return;
    timer = clock.setTimeout(() => {
      running = tick();
    }, config.intervals.POLICY_SCAN_INTERVAL_MS);
  }

  function tell(): void {
    const next = way === 'own' ? own.map(ownFact) : judged.map(factOf);
    const states = JSON.stringify(next.map(({ counts: _, ...rest }) => rest));
    facts.policies = next;
    facts.engine = { ...facts.engine, loaded_policies: loaded() };
    if (states === told) return;
    told = states;
    for (const { name, state, reason } of next) logState(name, state, reason);
    onChange();
  }

  function loaded(): EngineReport['loaded_policies'] {
    return facts.policies.slice(0, OWN_MAX).map(reportOf);
  }

  function forget(): void {
    heard = new Map();
    hearing = new Map();
    setReason = '';
    own = [];
    sums.beginAgain();
  }

  function logState(policy: string, state: string, reason: string): void {
    if (reason === '') logger.info({ policy, state }, 'a policy');
    else logger.warn({ policy, state, reason }, 'a policy');
  }

  function factOf(one: JudgedPolicy): PolicyFact {
    const mine = taken.get(one.name);
    if (mine === undefined) return { ...base(one), state: 'rejected', reason: reasonOf(one) };
    const word = heard.get(one.name);
    const engineReason = String(word?.['reason'] ?? '').slice(0, 512);
    const isCurrent = word?.['digest'] === mine.digest || engineReason !== '';
    const reason = [
      one.ok ? '' : `${reasonOf(one)}; the version before stays in force`,
      engineReason,
      setReason,
      mine.isUnsigned ? 'it is not signed, although this node has a key' : '',
    ].filter((text) => text !== '');
    if (way === 'none') {
      return { ...base(one), state: 'failed', reason: [NO_ENGINE, ...reason].join('; ') };
    }
    const state = isCurrent ? String(word?.['state']).slice(0, 32) : 'applying';
    const counts = sums.put(one.name, countsOf(word));
    return { ...base(one), state, reason: reason.join('; '), counts };
  }

  function ownFact(one: EngineMessage): PolicyFact {
    const [name, state] = [String(one['name']).slice(0, 128), String(one['state']).slice(0, 32)];
    const counts = isObject(one['counts']) ? countsOf(one['counts']) : {};
    return { name, state, reason: '', counts: sums.put(name, counts) };
  }

  const base = ({ name }: JudgedPolicy) => ({ name, counts: sums.of(name) });

  await tick();
  return {
    file,
    loaded,
    useEngine(run) {
      engine = run;
      way = run.readPolicies === undefined ? 'unknown' : 'file';
      forget();
      tell();
      // What is said of a policy ends with the engine that carried it out.
      void run.gone.then(() => {
        if (engine !== run) return;
        engine = null;
        forget();
        tell();
      });
    },
    hear(word) {
      if (word['engine'] === 'procfs') {
        way = 'none';
        tell();
      } else if (Array.isArray(word['policies'])) {
        way = 'own';
        own = word['policies'].filter(isObject).slice(0, OWN_MAX);
        tell();
      } else if (typeof word['policy'] === 'string') {
        hearing.set(word['policy'], word);
      } else if (typeof word['policies'] === 'number') {
        heard = hearing;
        hearing = new Map();
        setReason = String(word['reason'] ?? '').slice(0, 512);
        tell();
      }
    },
    async stop() {
      isStopped = true;
      clock.clearTimeout(timer);
      await running;
    },
  };
}

function reasonOf(one: JudgedPolicy): string {
  return one.ok ? '' : one.reason;
}

/** Whether a policy only tells, as its engine said last. */
export function monitorsOf(policies: readonly PolicyFact[]): (policy: string) => boolean {
  const names = new Set(
    policies.filter(({ state }) => state.startsWith('monitoring')).map(({ name }) => name),
  );
  // A version that takes the place of another bears a second name while both are loaded.
  return (policy) => names.has(policy) || names.has(policy.replace(/-next$/, ''));
}

/** As the heartbeat tells it. */
function reportOf({ name, state, reason, counts }: PolicyFact) {
  const sumOf = (names: readonly string[]): number | undefined =>
    names.some((one) => counts[one] !== undefined)
      ? names.reduce((sum, one) => sum + (counts[one] ?? 0), 0)
      : undefined;
  const [acted, wouldHave] = [sumOf(DEEDS), sumOf(DEEDS.map((one) => `monitored_${one}`))];
  return {
    name: name.slice(0, 128),
    state,
    ...(reason === '' ? {} : { reason: reason.slice(0, 512) }),
    ...(acted === undefined ? {} : { acted }),
    ...(wouldHave === undefined ? {} : { would_have_acted: wouldHave }),
  };
}

function countsOf(word: EngineMessage | undefined): Readonly<Record<string, number>> {
  const pairs = COUNTS.map((name): [string, number] => [name, Number(word?.[name])]);
  return Object.fromEntries(pairs.filter(([, count]) => Number.isSafeInteger(count)));
}
