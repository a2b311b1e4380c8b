// The chain over the simulated audit log. A call of it is a transaction under the database's one sealer lock, and it
// takes as long as its way does; meanwhile the other Consoles are told that somebody seals. A transaction whose caller
// is gone or has given up is rolled back, and what was sent for it and comes later is refused.
import { DATABASE_TIMEOUT_MS } from '../../../machines/limits.ts';
import type { Calls } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import type { AuditChain, SealOutcome } from '../../../storage/ports/audit/audit-chain.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { Life } from './life.ts';
import type { Observation } from './observation.ts';
import type { ScheduledTimer, Scheduler } from './scheduler.ts';
import type { Way } from './stores-way.ts';

/**
 * What a transaction asks between its lock and its commit. Where calls take no time it is left out: a process that ends
 * at one of these has changed as little as one that ends before its commit.
 */
const READS = 4;

type Transaction = { readonly host: string; isOver: boolean; idle: ScheduledTimer | null };

/** Puts another database's calls beside these. */
type Beside = (calls: Calls<AuditChain>) => Calls<AuditChain>;

export type SimulatedChain = {
  portFor(life: Life, way: Way, beside?: Beside): AuditChain;
  /** Rows sealed so far. */
  sealed(): number;
  /** What no database does: the lock is let go under the one who holds it. For a planted bug. */
  breakLock(): void;
  /** Another server answers: what is under way is over, and so many rows are sealed. */
  failOver(sealed: number): void;
};

/** Makes the chain of one database over its log's calls. */
export function createSimulatedChain(
  calls: Calls<AuditChain>,
  observe: (observation: Observation) => void,
  takesTime: () => boolean,
  scheduler: Pick<Scheduler, 'after' | 'cancel'>,
): SimulatedChain {
  let holder: Transaction | null = null;
  const open = new Set<Transaction>();
  let sealedRows = 0;

  function begin(own: Transaction): boolean {
    if (own.isOver || holder !== null) return false;
    holder = own;
    open.add(own);
    hear(own);
    if (open.size > 1) observe({ kind: 'audit.sealers', consoles: [...open].map((x) => x.host) });
    return true;
  }

  /** Rolled back when nothing more comes, as from a process that is paused. */
  function hear(own: Transaction): void {
    if (own.idle !== null) scheduler.cancel(own.idle);
    own.idle = open.has(own) ? scheduler.after(DATABASE_TIMEOUT_MS, () => end(own)) : null;
  }

  function end(own: Transaction): void {
    own.isOver = true;
    if (own.idle !== null) scheduler.cancel(own.idle);
    open.delete(own);
    if (holder === own) holder = null;
  }

  function commit<T>(own: Transaction, effect: () => T): T {
    if (!open.has(own)) throw new StoreUnavailable('the transaction was rolled back');
    try {
      return effect();
    } finally {
      end(own);
    }
  }

  function tell(console: string, epoch: number | undefined, outcome: SealOutcome): SealOutcome {
    if (outcome.isBusy || outcome.sealed === 0) return outcome;
    const { sealed, head } = outcome;
    sealedRows += sealed;
    observe({
      kind: 'audit.sealed',
      console,
      epoch: epoch ?? null,
      from: head.sequence - sealed + 1,
      to: head.sequence,
    });
    return outcome;
  }

  return {
    sealed: () => sealedRows,
    breakLock: () => {
      holder = null;
    },
    failOver(sealed) {
      for (const one of [...open]) end(one);
      sealedRows = sealed;
    },
    portFor(life, way, beside = (plain) => plain) {
      const { host } = life;
      const told = beside({
        ...calls,
        seal: (request) => tell(host, request.epoch, calls.seal(request)),
      });
      const own = new Set<Transaction>();
      life.onEnd(() => own.forEach(end));

      async function under<T>(name: string, busy: T, effect: () => T): Promise<T> {
        const transaction = { host, isOver: false, idle: null };
        own.add(transaction);
        try {
          const isOurs = await way.ask('audit_chain.begin', () => begin(transaction));
          if (!isOurs) return busy;
          for (let read = 0; read < READS && takesTime(); read += 1) {
            await way.ask('audit_chain.read', () => hear(transaction));
          }
          return await way.ask(name, () => commit(transaction, effect));
        } finally {
          end(transaction);
          own.delete(transaction);
        }
      }

      return {
        seal: (request) =>
          under<SealOutcome>('audit_chain.seal', { isBusy: true }, () => told.seal(request)),
        checkpoint: (sign, epoch) =>
          under('audit_chain.checkpoint', null, () => told.checkpoint(sign, epoch)),
        checkpoints: (query) => way.ask('audit_chain.checkpoints', () => told.checkpoints(query)),
      };
    },
  };
}
