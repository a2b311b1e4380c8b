// Which engine runs: the best that works, or the one that was asked for. What was passed over is told with the reason.
import type { HookReport } from '../../machines/sensor/engine.rules.ts';

export type EngineKind = 'tetragon' | 'ebpf' | 'procfs';
export type EngineWish = EngineKind | 'auto';
/** Best first. */
const BY_WORTH: readonly EngineKind[] = ['tetragon', 'ebpf', 'procfs'];

export type EngineChoice =
  | {
      readonly ok: true;
      readonly kind: EngineKind;
      readonly passedOver: readonly HookReport[];
      /** Whether a lesser one could take its place: never where one was asked for. */
      readonly hasFallback: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Asks each engine, best first, why it cannot run (undefined = it can); those behind the chosen one are not asked. */
export async function chooseEngine(
  wish: EngineWish,
  whyNot: (kind: EngineKind) => Promise<string | undefined>,
): Promise<EngineChoice> {
  const passedOver: HookReport[] = [];
  for (const kind of wish === 'auto' ? BY_WORTH : [wish]) {
    const reason = await whyNot(kind);
    if (reason === undefined) {
      const better = BY_WORTH.slice(0, BY_WORTH.indexOf(kind));
      const unasked = wish === 'auto' ? [] : better.map((one) => report(one, `${kind} is forced`));
      const hasFallback = wish === 'auto' && kind !== BY_WORTH.at(-1);
      return { ok: true, kind, passedOver: [...passedOver, ...unasked], hasFallback };
    }
    passedOver.push(report(kind, reason));
  }
  const said = passedOver.map(({ hook, reason }) => `${hook}: ${reason}`);
  return { ok: false, reason: said.join('; ') };
}

/** How an engine that was passed over stands among the hooks that are missing. */
function report(kind: EngineKind, reason: string): HookReport {
  return { hook: `engine/${kind}`, reason: reason.slice(0, 512) };
}
