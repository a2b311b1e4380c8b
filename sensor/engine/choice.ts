// Which engine runs: the best that works, or the one that was asked for. What was passed over is told with the reason.
import type { HookReport } from '../../machines/sensor/engine.rules.ts';

export type EngineKind = 'tetragon' | 'ebpf' | 'procfs';
export type EngineWish = EngineKind | 'auto';
/** Best first. */
const BY_WORTH: readonly EngineKind[] = ['tetragon', 'ebpf', 'procfs'];
/** How the hooks of engines that were passed over are named. */
const HOOK = 'engine/';

export type EngineChoice =
  | {
      readonly ok: true;
      readonly kind: EngineKind;
      readonly passedOver: readonly HookReport[];
      /** Whether a lesser one could take its place: never where one was asked for. */
      readonly hasFallback: boolean;
    }
  | { readonly ok: false; readonly reason: string; readonly passedOver: readonly HookReport[] };

/** Asks each engine, best first, why it cannot run (undefined = it can); those behind the chosen one are not asked. */
export async function chooseEngine(
  wish: EngineWish,
  whyNot: (kind: EngineKind) => Promise<string | undefined>,
): Promise<EngineChoice> {
  const passedOver: HookReport[] = [];
  for (const kind of wish === 'auto' ? BY_WORTH : [wish]) {
    const reason = await whyNot(kind);
    if (reason === undefined) {
      const unasked =
        wish === 'auto' ? [] : betterThan(kind).map((one) => report(one, `${kind} is forced`));
      const hasFallback = wish === 'auto' && kind !== BY_WORTH.at(-1);
      return { ok: true, kind, passedOver: [...passedOver, ...unasked], hasFallback };
    }
    passedOver.push(report(kind, reason));
  }
  const said = passedOver.map(({ hook, reason }) => `${hook}: ${reason}`);
  return { ok: false, reason: said.join('; '), passedOver };
}

/** How an engine that was passed over stands among the hooks that are missing. */
function report(kind: EngineKind, reason: string): HookReport {
  return { hook: `${HOOK}${kind}`, reason: reason.slice(0, 512) };
}

/** The engines that are better than this one, best first. */
export function betterThan(kind: EngineKind): readonly EngineKind[] {
  return BY_WORTH.slice(0, BY_WORTH.indexOf(kind));
}

/** What was passed over, as it is told when an engine of this kind runs. */
export function passedOverBy(
  kind: EngineKind,
  reports: readonly HookReport[],
): readonly HookReport[] {
  const better = betterThan(kind).map((one) => `${HOOK}${one}`);
  return reports.filter(({ hook }) => better.includes(hook));
}
