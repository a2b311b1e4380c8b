// The policies of this node: what lies in `compiled-policies/` by hand and what the Console wants are verified, read,
// compiled and given to the engine as one set, again whenever that is another. A version that is refused never takes the
// place of one that is in force. decision: D45, D78
import { dirname, join } from 'node:path';
import { POLICY_CONFIRM_TIMEOUT_MS } from '../../../machines/sensor/policy-limits.ts';
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import type { PolicyFact } from '../../actors/facts.ts';
import type { Parts } from '../../actors/parts.ts';
import type { EngineLaunch, EngineRun } from '../../engine/engine-launcher.ts';
import { compiledRevision, compileFile } from '../../engine/policy/compile-policy.ts';
import { type JudgedPolicy, judgePolicy } from '../../engine/policy/judge-policies.ts';
import {
  EBPF_BOUNDS,
  type FoundPolicy,
  joinedPolicies,
  readPolicyFiles,
} from '../../engine/policy/policy-files.ts';
import { makeDirectoryDurably, writeAtomic } from '../../state-directory/atomic-file.ts';
import { errorCode, type Files } from '../../state-directory/file-port.ts';
import { type EngineMessage, engineMessageOf } from '../engine/engine-messages.ts';
import { createEngineListener, type Way } from './engine-words.ts';
import { createPolicyCounts } from './policy-counts.ts';
import { loadedPolicies, policyFacts, type Taken } from './policy-facts.ts';

type Run = Pick<EngineRun, 'readPolicies' | 'tryPolicies' | 'gone'>;
export type PolicyKeeper = {
  /** Where the engine finds what is compiled. */
  readonly file: string;
  /** What an engine is told of policies when it starts. */
  readonly given: Pick<EngineLaunch, 'policyFile' | 'isStrict'>;
  /** This engine runs from now on. */
  useEngine(run: Run): void;
  /** A word of the engine, of whatever it speaks. */
  hear(word: EngineMessage): void;
  /** Each policy and its state, as the wire has it. */
  loaded(): EngineReport['loaded_policies'];
  way(): Way;
  /**
   * Has what the Console wants in force in the place of what it wanted before, as one set; answers why the engine does
   * not, and then the set before is in force. Rejects when that cannot be told now; it is then, too.
   */
  replace(
    wanted: readonly FoundPolicy[],
    more?: { readonly mayLack?: boolean },
  ): Promise<string | null>;
  /** Resolves when nothing is written any more. What is in force stays so as long as the engine runs. */
  stop(): Promise<void>;
};
type KeeperParts = Pick<Parts, 'logger' | 'clock' | 'facts'> & {
  readonly config: Pick<Parts['config'], 'stateDir' | 'intervals'> &
    Partial<Pick<Parts['config'], 'strictPolicies'>>;
  readonly ports: Pick<Parts['ports'], 'files'>;
};

const FILE = join('run', 'policies');

/** Reads the folder once, then every few seconds; `onChange` hears that a policy's state is another, or that there is
 * another engine. `held` is what the Console wanted last. Never rejects. */
export async function startPolicies(
  parts: KeeperParts,
  onChange: () => void,
  held: readonly FoundPolicy[] = [],
): Promise<PolicyKeeper> {
  const { config, logger, clock, facts } = parts;
  const set = createGivenSet(parts, held);
  const listener = createEngineListener();
  const sums = createPolicyCounts();
  const waiting = new Set<() => void>();
  let engine: Run | null = null;
  let told = '';
  let isStopped = false;
  let timer = 0;
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const own = last.then(run, run);
    last = own.catch(() => undefined);
    return own;
  }

  async function scan(): Promise<void> {
    if (isStopped) return;
    sums.keep(await set.read());
    if (await set.give()) engine?.readPolicies?.();
    tell();
  }

  async function tick(): Promise<void> {
    await inTurn(scan).catch((error: unknown) =>
      logger.warn({ code: errorCode(error) }, 'the policies cannot be given to the engine now'),
    );
    if (isStopped) return;
    timer = clock.setTimeout(() => void tick(), config.intervals.POLICY_SCAN_INTERVAL_MS);
  }

  function tell(): void {
    const next = policyFacts(set.judged(), set.taken(), listener.words(), sums);
    const states = JSON.stringify(next.map(({ counts: _, ...rest }) => rest));
    facts.policies = next;
    facts.engine = { ...facts.engine, loaded_policies: loadedPolicies(next) };
    for (const wake of waiting) wake();
    if (states === told) return;
    told = states;
    for (const { name, state, reason } of next) logState(name, state, reason);
    onChange();
  }

  function logState(policy: string, state: string, reason: string): void {
    if (reason === '') logger.info({ policy, state }, 'a policy');
    else logger.warn({ policy, state, reason }, 'a policy');
  }

  /** Until the engine has said what became of what it was given; false when it did not. */
  function confirmed(): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isIt: boolean): void => {
        waiting.delete(look);
        clock.clearTimeout(deadline);
        resolve(isIt);
      };
      const look = (): void => {
        const { way, revision } = listener.words();
        if (engine === null || isStopped) end(false);
        else if (way === 'own' || way === 'none') end(true);
        else if (revision >= set.revision()) end(true);
      };
      const deadline = clock.setTimeout(() => end(false), POLICY_CONFIRM_TIMEOUT_MS);
      waiting.add(look);
      look();
    });
  }

  async function replace(wanted: readonly FoundPolicy[], mayLack: boolean): Promise<string | null> {
    if (engine === null) throw new Error('no engine runs now');
    const unfit = mayLack ? null : await whyNotTaken(engine, await set.trial(wanted), wanted);
    if (unfit !== null) return unfit;
    const before = set.wanted();
    const back = async (): Promise<void> => {
      set.want(before);
      await scan();
    };
    try {
      set.want(wanted);
      await scan();
      if (!(await confirmed())) throw new Error('the engine does not say what became of it');
    } catch (error) {
      await back();
      throw error;
    }
    const { way } = listener.words();
    const bad = mayLack ? undefined : facts.policies.find((one) => isUnfit(one, way));
    if (bad === undefined) return null;
    await back();
    return refusalOf(bad);
  }

  await tick();
  return {
    file: set.file,
    given: { policyFile: set.file, isStrict: config.strictPolicies === true },
    loaded: () => loadedPolicies(facts.policies),
    way: () => listener.words().way,
    replace: (wanted, { mayLack = false } = {}) => inTurn(() => replace(wanted, mayLack)),
    useEngine(run) {
      engine = run;
      listener.begin(run.readPolicies === undefined ? 'unknown' : 'file');
      sums.beginAgain();
      tell();
      // What is said of a policy ends with the engine that carried it out.
      void run.gone.then(() => {
        if (engine !== run) return;
        engine = null;
        listener.begin('unknown');
        sums.beginAgain();
        tell();
      });
    },
    hear(word) {
      const before = listener.words().way;
      if (!listener.hear(word)) return;
      tell();
      if (listener.words().way !== before) onChange();
    },
    async stop() {
      isStopped = true;
      clock.clearTimeout(timer);
      for (const wake of waiting) wake();
      await last;
    },
  };
}

/** Asks an engine that can try policies what it would say of these. */
async function whyNotTaken(
  engine: Run,
  text: string,
  wanted: readonly FoundPolicy[],
): Promise<string | null> {
  if (wanted.length === 0) return null;
  const lines = await engine.tryPolicies?.(text);
  if (lines === undefined) return null;
  const listener = createEngineListener();
  for (const line of lines) {
    const word = engineMessageOf(line);
    if (word !== null) listener.hear(word);
  }
  const { policies, reason } = listener.words();
  if (reason !== '') return reason;
  for (const { name } of wanted) {
    const word = policies.get(name);
    const why = String(word?.['reason'] ?? 'the engine says nothing of it');
    if (why !== '' || word?.['state'] === 'failed') return `${name}: ${why}`;
  }
  return null;
}

/** Of what the Console wants: the engine does not carry out this version, or says nothing of it. */
function isUnfit({ from, state, reason }: PolicyFact, way: Way): boolean {
  if (from === undefined) return false;
  const isUntold = way === 'file' && state === 'applying';
  return isUntold || state === 'failed' || state === 'rejected' || reason !== '';
}

/** Silence is no refusal: a version that is refused is not tried again. */
function refusalOf({ name, state, reason }: PolicyFact): string {
  if (state === 'applying') throw new Error(`the engine says nothing of ${name}`);
  return `${name}: ${reason}`;
}

type GivenSet = {
  readonly file: string;
  judged(): readonly JudgedPolicy[];
  taken(): ReadonlyMap<string, Taken>;
  wanted(): readonly FoundPolicy[];
  want(policies: readonly FoundPolicy[]): void;
  /** Of the file that was written last. */
  revision(): number;
  /** Judges what is there now; answers the names. */
  read(): Promise<ReadonlySet<string>>;
  /** What the engine would be given with these, compiled so that nothing of it acts. */
  trial(policies: readonly FoundPolicy[]): Promise<string>;
  /** Writes what the engine is to have; false when that is what it has. */
  give(): Promise<boolean>;
};

/** What the engine is given, and what was found for it. */
function createGivenSet(
  { config, ports: { files } }: KeeperParts,
  held: readonly FoundPolicy[],
): GivenSet {
  const file = join(config.stateDir, FILE);
  const taken = new Map<string, Taken>();
  const bounds = { ...EBPF_BOUNDS, isStrict: config.strictPolicies === true };
  let wanted = held;
  let judged: readonly JudgedPolicy[] = [];
  let revision = 0;
  let written: string | null = null;
  return {
    file,
    judged: () => judged,
    taken: () => taken,
    wanted: () => wanted,
    want(policies) {
      wanted = policies;
    },
    revision: () => revision,
    async read() {
      const own = await readPolicyFiles(files, config.stateDir, bounds);
      judged = await Promise.all(joinedPolicies(own, wanted).map(judgePolicy));
      const names = new Set(judged.map(({ name }) => name));
      for (const [name, { from }] of taken) {
        // What the Console wants is one set: nothing of the one before stays in its place.
        if (!names.has(name) || from !== undefined) taken.delete(name);
      }
      for (const one of judged) {
        if (one.ok) taken.set(one.name, one);
        else if (one.from !== undefined) taken.delete(one.name);
      }
      return names;
    },
    async trial(policies) {
      const own = await readPolicyFiles(files, config.stateDir, bounds);
      const quiet = joinedPolicies(own, policies).map((one) =>
        judgePolicy(one.ok ? { ...one, monitors: true } : one),
      );
      const lines = (await Promise.all(quiet)).flatMap((one) => (one.ok ? [one.compiled] : []));
      return compileFile(1, lines);
    },
    async give() {
      const lines = [...taken.values()].map(({ compiled }) => compiled);
      const content = lines.join('');
      if (content === written) return false;
      // An engine that was given nothing and has nothing to forget is left alone.
      if (written === null && content === '' && (await files.stat(file)) === null) return false;
      // An engine may have read the file of the life before: its number would confirm what it never saw.
      if (written === null) revision = Math.max(revision, await revisionIn(files, file));
      const text = compileFile(revision + 1, lines);
      await makeDirectoryDurably(files, dirname(file), 0o700);
      await writeAtomic(files, dirname(file), 'policies', { text, mode: 0o600 });
      revision += 1;
      written = content;
      return true;
    },
  };
}

/** The number of the file that is there; 0 where none is. Rejects when it cannot be read. */
async function revisionIn(files: Files, file: string): Promise<number> {
  if ((await files.stat(file)) === null) return 0;
  return compiledRevision((await files.readFile(file)).toString('latin1'));
}
