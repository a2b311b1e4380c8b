// What capabilities are given: the ports, what earlier steps opened, and each other's services. Asking for what is not
// there yet is a mistake of the order, and says so.
import { createLoopRegistry } from '../actors/loops/loop-registry.ts';
import type { Designation } from '../storage/ports/runtime/designation.ts';
import type { RelationalStores } from '../storage/ports/stores.ts';
import type { Capability, ConsoleContext, Opened } from './capability.ts';
import type { ConsolePorts } from './console-ports.ts';
import { createCursorSigner } from './operator-plane/plumbing/cursor.ts';
import { createStoreView } from './operator-plane/system/store-view.ts';

/** What the steps fill, one after the other. */
export type Slots = Partial<
  Pick<
    { -readonly [Name in keyof ConsoleContext]: ConsoleContext[Name] },
    'relational' | 'analytics' | 'policySigning' | 'certificates' | 'listener'
  >
> & {
  pageLinkKey?: Buffer;
  readonly opened: Map<string, Opened<unknown>>;
};

/** The context over the slots, which are looked at when something of them is asked for. */
export function openContext(
  ports: ConsolePorts,
  slots: Slots,
  isDraining: () => boolean,
): ConsoleContext {
  function need<Name extends Exclude<keyof Slots, 'opened'>>(name: Name) {
    const found = slots[name];
    if (found === undefined) throw new Error(`start-up order: ${name} is not there yet`);
    return found as NonNullable<Slots[Name]>;
  }
  const contributions = () => [...slots.opened.values()];
  const intervals = () =>
    contributions().find((one) => one.intervals !== undefined)?.intervals ?? ports.config.intervals;
  return {
    ...ports,
    config: {
      ...ports.config,
      get intervals() {
        return intervals();
      },
    },
    get intervals() {
      return intervals();
    },
    get relational() {
      return need('relational');
    },
    get analytics() {
      return need('analytics');
    },
    get policySigning() {
      return need('policySigning');
    },
    get certificates() {
      return need('certificates');
    },
    get listener() {
      return need('listener');
    },
    get cursors() {
      return createCursorSigner(need('pageLinkKey'));
    },
    loops: createLoopRegistry({
      ...{ clock: ports.clock, logger: ports.logger },
      ...{ now: ports.time.now, monotonicNow: ports.time.monotonicNow },
      designation: ports.config.backgroundTasks
        ? { port: lateDesignation(() => need('relational')), holder: ports.holder }
        : null,
    }),
    supervised: createStoreView(ports.time.now),
    use<Service>({ name }: Pick<Capability<Service>, 'name'>): Service {
      const found = slots.opened.get(name);
      if (found === undefined) throw new Error(`start-up order: ${name} is not open yet`);
      return found.service as Service;
    },
    contributions,
    notReadyBecause: () => (isDraining() ? 'the Console is stopping' : null),
    guard() {
      const found = contributions().find((one) => one.guard !== undefined)?.guard;
      if (found === undefined) throw new Error('no capability judges who calls');
      return found;
    },
  };
}

// The database is opened later than loops may be added.
function lateDesignation(relational: () => RelationalStores): Designation {
  return {
    stand: (request) => relational().designation.stand(request),
    last: () => relational().designation.last(),
    close: () => relational().designation.close(),
  };
}
