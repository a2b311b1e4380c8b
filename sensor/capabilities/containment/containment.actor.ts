// The effects of containment: the record on disk, then the packet filter, one after the other whatever the machine does
// meanwhile. decision: D85, D86
import { fromPromise } from 'xstate';
import {
  type ContainmentActorRef,
  type ContainmentInput,
  containmentMachine,
  type Look,
} from '../../../machines/sensor/containment.machine.ts';
import {
  mayComeBack,
  type Order,
  type Passage,
  readBackOf,
  refusalOfPassage,
  refusalOfReadBack,
  rulesetOf,
} from '../../../machines/sensor/containment.rules.ts';
import { type Parts, startActor } from '../../actors/parts.ts';
import { type ContainmentRecord, readRecord, writeRecord } from './containment-record.ts';

type ActorParts = Pick<Parts, 'clock' | 'config' | 'logger' | 'now' | 'onCrash'> & {
  readonly client: Pick<Parts['client'], 'baseUrl'>;
  readonly ports: Pick<Parts['ports'], 'files' | 'packetFilter'>;
};
const NOTHING: Passage = { peers: [], resolvers: [] };
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/**
 * A lift that follows an apply waits for its end. What was overtaken while it waited is left out: on a disk that hung, a
 * release of then would let a node go that was contained again since.
 */
function takeTurns(): <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (signal, run) => {
    const unlessOvertaken = async () => {
      signal.throwIfAborted();
      return run();
    };
    const own = last.then(unlessOvertaken, unlessOvertaken);
    last = own.catch(() => undefined);
    return own;
  };
}

/** Starts from what was kept. */
export async function startContainment(parts: ActorParts): Promise<ContainmentActorRef> {
  const { config, logger, now } = parts;
  const { files, packetFilter: filter } = parts.ports;
  let record = await readRecord(files, config.stateDir, logger);
  /** What was read back when the rules came into force; null: not yet in this life. */
  let inForce: string | null = null;
  const inTurn = takeTurns();

  async function keep(next: ContainmentRecord): Promise<void> {
    await writeRecord(files, config.stateDir, next);
    record = next;
  }

  const nextRecord = (order: Order): ContainmentRecord => ({
    ...{ repaired: 0, isApplied: false, passage: NOTHING },
    ...record,
    ...{ order, sinceMs: now() },
  });

  function passageNow(): Promise<Passage> {
    const url = config.proxyUrl ?? parts.client.baseUrl;
    const standard = url.protocol === 'http:' ? HTTP_PORT : HTTPS_PORT;
    return filter.passage({ host: url.hostname, port: Number(url.port) || standard });
  }

  async function enforce(passage: Passage): Promise<void> {
    await filter.apply(rulesetOf(passage));
    const found = await filter.read();
    const refusal = refusalOfReadBack(found, passage);
    if (refusal !== null) throw new Error(refusal);
    inForce = readBackOf(found);
  }

  async function apply(
    given: { readonly order: Order; readonly isKept: boolean },
    signal: AbortSignal,
  ): Promise<number> {
    if (!given.isKept || record === null) await keep(nextRecord(given.order));
    signal.throwIfAborted();
    const before = record ?? nextRecord(given.order);
    // A restart does not wait for a network: what the rules let through is known.
    const isKnown = before.isApplied && refusalOfPassage(before.passage) === null;
    const passage = isKnown ? before.passage : await passageNow();
    const refusal = refusalOfPassage(passage);
    if (refusal !== null) throw new Error(refusal);
    if (!isKnown) await keep({ ...before, passage, isApplied: true });
    // The record may say more than is true: rules that are not there are lifted, or come into force, all the same.
    signal.throwIfAborted();
    try {
      await enforce(passage);
    } catch (error) {
      if (!before.isApplied) await forgetUnapplied();
      throw error;
    }
    return now();
  }

  /** Nothing to be lifted by and by, when it is certain that nothing came into force. */
  async function forgetUnapplied(): Promise<void> {
    const found = await filter.read().catch(() => null);
    if (found === null && record !== null) await keep({ ...record, isApplied: false });
  }

  async function lift(
    given: { readonly order: Order | null; readonly isKept: boolean },
    signal: AbortSignal,
  ): Promise<number> {
    if (given.order !== null && !given.isKept) await keep(nextRecord(given.order));
    signal.throwIfAborted();
    warnOfClock(logger, given.order);
    if (record?.isApplied === true) {
      await filter.remove();
      inForce = null;
      await keep({ ...record, isApplied: false, sinceMs: now() });
    }
    return now();
  }

  async function check(): Promise<Look> {
    const kept = record;
    if (kept === null) throw new Error('the order is gone');
    const fresh = await passageNow().catch(() => kept.passage);
    const isOther = JSON.stringify(fresh) !== JSON.stringify(kept.passage);
    if (isOther && refusalOfPassage(fresh) === null) {
      await keep({ ...kept, passage: fresh });
      await enforce(fresh);
      return { atMs: now(), wasRepaired: false };
    }
    const found = await filter.read();
    if (inForce !== null && readBackOf(found) === inForce)
      return { atMs: now(), wasRepaired: false };
    logger.warn({}, 'the rules of the containment were changed by somebody; they are put back');
    await enforce(kept.passage);
    await keep({ ...kept, repaired: kept.repaired + 1 });
    return { atMs: now(), wasRepaired: true };
  }

  return startActor(
    parts,
    containmentMachine.provide({
      actors: {
        readClock: fromPromise<number, undefined>(async () => now()),
        applyRules: fromPromise<number, { readonly order: Order; readonly isKept: boolean }>(
          ({ input, signal }) => inTurn(signal, () => apply(input, signal)),
        ),
        checkRules: fromPromise<Look, undefined>(({ signal }) => inTurn(signal, check)),
        liftRules: fromPromise<number, { readonly order: Order | null; readonly isKept: boolean }>(
          ({ input, signal }) => inTurn(signal, () => lift(input, signal)),
        ),
      },
    }),
    inputOf(record, now(), config.intervals.HEARTBEAT_INTERVAL_MS),
  );
}

/** What the machine begins with. */
function inputOf(
  record: ContainmentRecord | null,
  nowMs: number,
  checkMs: number,
): ContainmentInput {
  return {
    order: record?.order ?? null,
    sinceMs: record?.sinceMs ?? nowMs,
    repaired: record?.repaired ?? 0,
    isCarriedOut: record?.isApplied ?? false,
    checkMs,
  };
}

function warnOfClock(logger: Parts['logger'], order: Order | null): void {
  if (!mayComeBack(order)) return;
  const until = new Date(order.untilMs).toISOString();
  logger.warn(
    { until },
    "an order to contain is over by this node's clock; it holds once the clock is before its end",
  );
}
