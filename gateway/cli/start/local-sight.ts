// What the engine of this machine cannot see, said where `npm start` said that all is ready: nobody has to ask for it. It
// is known when the Sensor's heartbeat with a running engine is stored, some seconds after the banner. decision: D52
import { engineSeen } from '../../../machines/console/fleet/sensor.rules.ts';
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import type { SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { Timers } from '../../../storage/ports/plumbing/clock.ts';
import { plain } from '../plumbing/terminal.ts';
import { noticeRows } from './banner.ts';

const LOOK_MS = 1_000;
const REASON_MAX_CHARS = 120;
/** How engines that were passed over stand among the hooks. */
const ENGINE = 'engine/';

/** What the Sensor told of its engine. */
export type ToldEngine = Pick<EngineReport, 'kind' | 'mode' | 'state' | 'disabled_hooks'>;
type Around = {
  readonly isRoot: boolean;
  readonly nodeName: string;
  /** How this program is called from any folder. */
  readonly program: string;
};

/** Rows about an engine that sees less than every engine is to see; none of one that sees all; null while it is starting. */
export function sightRows(engine: ToldEngine, around: Around): readonly string[] | null {
  const seen = engineSeen(engine.state, engine.disabled_hooks);
  if (seen === 'running') return [];
  if (seen === 'failed') {
    const text = `No engine runs on this machine, so that nothing of it is seen${why(engine)}.`;
    return [...noticeRows(text), `    ${around.program} sensors get ${around.nodeName}`];
  }
  if (seen !== 'degraded') return null;
  const text =
    engine.mode === 'polling'
      ? `The engine on this machine polls /proc and misses short programs: ${cure(engine, around)}.`
      : `The engine on this machine (${plain(engine.kind)}) does not see everything${lacking(engine)}.`;
  return [
    ...noticeRows(`${text} What it lacks, and what it missed:`),
    `    ${around.program} sensors get ${around.nodeName}`,
    `    ${around.program} sensors coverage`,
  ];
}

function cure(engine: ToldEngine, { isRoot }: Around): string {
  if (!isRoot) return 'run as root for the eBPF engine';
  const passedOver = engine.disabled_hooks.find(({ hook }) => hook === `${ENGINE}ebpf`);
  return passedOver === undefined
    ? 'the eBPF engine does not run here'
    : `the eBPF engine does not run here (${brief(passedOver.reason)})`;
}

function lacking({ disabled_hooks: hooks }: ToldEngine): string {
  const [first, ...others] = hooks.filter(({ missing }) => missing === true);
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `: ${plain(first.hook)} (${brief(first.reason)})${more}`;
}

function why({ disabled_hooks: hooks }: ToldEngine): string {
  const reasons = hooks
    .filter(({ hook }) => hook.startsWith(ENGINE))
    .map(({ hook, reason }) => `${plain(hook.slice(ENGINE.length))} (${brief(reason)})`);
  return reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
}

/** As much of it as reads as part of a sentence. */
function brief(reason: string): string {
  return plain(
    reason.length <= REASON_MAX_CHARS ? reason : `${reason.slice(0, REASON_MAX_CHARS)}...`,
  );
}

export type SightDeps = {
  readonly time: Timers;
  /** When the Sensor was last heard, of what is in memory; null: not yet. */
  readonly heardAtMs: () => number | null;
  /** Its row; null while it has none. Rejects while the database is away. */
  readonly row: () => Promise<Pick<SensorRow, 'nodeName' | 'lastHeartbeatAtMs' | 'facts'> | null>;
  readonly around: Omit<Around, 'nodeName'>;
  readonly tell: (rows: readonly string[]) => void;
};

/** Looks at the Sensor that this start began, and tells what its engine lacks, once until that changes. Ends it. */
export function followSight(deps: SightDeps): () => void {
  const { time, heardAtMs, tell } = deps;
  // What was stored before this start is of another engine.
  let [lookedAtMs, told] = [time.now() - 1, ''];
  let isEnded = false;
  let timer = time.setTimeout(look, LOOK_MS);

  function look(): void {
    void lookOnce()
      .catch(() => undefined)
      .then(() => {
        if (!isEnded) timer = time.setTimeout(look, LOOK_MS);
      });
  }

  async function lookOnce(): Promise<void> {
    if ((heardAtMs() ?? 0) <= lookedAtMs) return;
    const row = await deps.row();
    // The row follows what was heard.
    if (isEnded || row === null || (row.lastHeartbeatAtMs ?? 0) <= lookedAtMs) return;
    lookedAtMs = row.lastHeartbeatAtMs ?? lookedAtMs;
    const engine = row.facts?.engine as ToldEngine;
    const rows = sightRows(engine, { ...deps.around, nodeName: plain(row.nodeName) });
    if (rows === null || rows.join('\n') === told) return;
    told = rows.join('\n');
    if (rows.length > 0) tell(rows);
  }

  return () => {
    isEnded = true;
    time.clearTimeout(timer);
  };
}
