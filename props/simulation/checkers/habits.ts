// What a node has learned of its programs, and what the Console holds of it. The Console's rows are named by the hash that
// the Sensor gave the whole, which it works out from all it has and not from the delta it sends, so that equal hashes mean
// that delta coding, lost answers, repeats and restarts lost nothing. Where habits are told every few seconds the calm at
// the end is long enough to ask more: the last ones have arrived, and the rows are what the node's own file holds. However
// many programs there are, a node knows no more than its bound; and a deed is judged only by what was seen for as long as
// the warm-up. decision: D47; invariant: I10
import { createHash } from 'node:crypto';
import { BASELINE_VALUES_MAX } from '../../../machines/pipeline-limits.ts';
import type { Baseline } from '../../../machines/wire/baseline.ts';
import { distinctItems, sectionText, stableTextOf } from '../../../machines/wire/inventory-text.ts';
import { baselineItem, parseBaselines } from '../../../sensor/pipeline/baseline-file.ts';
import type { Profile } from '../../../sensor/pipeline/baseline-profile.ts';
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { type NodeHost, STATE_DIR } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { WORD_UNDER_WAY_MS } from './forgetful.ts';
import { TOLD_WITHIN_MS } from './loss-ledger.ts';
import { stateOf, statusOf } from './node-files.ts';

/** Files are read at every so many probes: a quarter of an hour. */
const PROBES_PER_LOOK = 45;
const UNNAMED = '';

const NOTHING = hashOf([]);

export const habits: CheckerKind = {
  name: 'habits',
  promise: 'The Console holds the habits that a node told last, and a node knows few enough (I10).',
  make(fleet, report) {
    const { analytics, relational } = fleet.stores;
    /** Hashes that a Console said it has, by sensor. */
    const told = new Map<string, string>();
    const { intervals, binariesMax } = fleet;
    const isTellingOver =
      intervals.BASELINE_TELL_INTERVAL_MS +
        intervals.BASELINE_SAVE_INTERVAL_MS +
        intervals.INVENTORY_INTERVAL_MS +
        intervals.HEARTBEAT_INTERVAL_MS <
      TOLD_WITHIN_MS;
    let probes = 0;
    let hasJumped = false;
    let forgotMs: number | null = null;

    function savedBy({ disk }: NodeHost): ReadonlyMap<string, Profile> | null {
      const text = disk.read(`${STATE_DIR}/${STATE_FILES.baselines}`)?.toString() ?? '';
      return text === '' ? null : parseBaselines(text);
    }

    function judgeBound(node: NodeHost): void {
      const saved = savedBy(node);
      if (saved === null) return;
      if (saved.size > binariesMax) report(`${node.name} knows ${saved.size} programs`);
      for (const [binary, { habits: own }] of saved) {
        const most = Math.max(...Object.values(own).map(({ values }) => values.size));
        if (most > BASELINE_VALUES_MAX) report(`${node.name} knows ${most} values of ${binary}`);
      }
    }

    function judgeRows(node: NodeHost): void {
      const state = stateOf(node);
      if (state === null || state.trust_state === 'trust_revoked' || !node.isUp()) return;
      if (statusOf(node)?.state !== 'running') return;
      const rows = analytics.baselines(state.sensor_id).map(({ storedAtMs: _, ...row }) => row);
      if (isTellingOver) judgeFile(node, rows);
      // Without a name after an attempt that broke off, or that came late and nobody waited for: what is told next is asked
      // for whole.
      // The name went with the commits; it is told again with the next repeat.
      if (forgotMs !== null && !told.has(state.sensor_id)) return;
      const section = relational.section(state.sensor_id, 'baselines')?.hash ?? NOTHING;
      if (section === UNNAMED) return;
      const hash = hashOf(rows);
      if (hash !== section) {
        report(`${node.name} is known by habits ${section}, and the Console has ${hash}`);
      }
      const named = told.get(state.sensor_id) ?? NOTHING;
      if (isTellingOver && named !== section) {
        report(`${node.name} told habits ${named}, and the Console names ${section}`);
      }
    }

    /** Whether a program is known long enough changes by itself, so that it is left out. */
    function judgeFile(node: NodeHost, rows: readonly Baseline[]): void {
      const saved = savedBy(node) ?? new Map<string, Profile>();
      const textOf = (one: Baseline): string => stableTextOf({ ...one, is_warm: false });
      const stored = new Map(rows.map((row) => [row.binary, textOf(row)]));
      const wrong = [...saved].filter(
        ([binary, profile]) => stored.get(binary) !== textOf(baselineItem(binary, profile, 0)),
      );
      if (wrong.length > 0 || saved.size !== stored.size) {
        const [first = 'none'] = wrong.map(([binary]) => binary);
        const sizes = `${saved.size} programs, and the Console has ${stored.size}`;
        report(`${node.name} knows ${sizes}; ${wrong.length} are not as stored, as ${first}`);
      }
    }

    /**
     * Nobody is judged by what was seen for less than the warm-up: the program itself, or the one that started it. A clock
     * that jumps takes a program's age with it.
     */
    function judgeScores(): void {
      for (const { sensorId, events } of analytics.rows.batches()) {
        const name = relational.nodeOf(sensorId);
        const engine = fleet.nodes.find((one) => one.name === name)?.engine;
        for (const { anomaly_score: score, process, parent } of events) {
          if (score === undefined || engine === undefined) continue;
          const known = [process, parent].map((one) => engine.knownForMs(one?.binary ?? ''));
          if (Math.max(...known) >= intervals.BASELINE_WARM_UP_MS) continue;
          report(`${name} gave ${process?.binary} a score of ${score}, known for ${known} ms`);
          return;
        }
      }
    }

    return {
      observe(seen, atMs) {
        if (seen.kind === 'fault' && seen.fault === 'node.clock_jump') hasJumped = true;
        if (seen.kind === 'relational.forgot') {
          forgotMs = atMs;
          told.clear();
        }
        if (forgotMs !== null && atMs - forgotMs < WORD_UNDER_WAY_MS) return;
        if (seen.kind !== 'habits.told' || seen.answer === 'need_full') return;
        const sensorId = relational.sensorOf(seen.fingerprint ?? '');
        if (sensorId !== undefined) told.set(sensorId, seen.hash);
      },
      probe() {
        probes += 1;
        if (probes % PROBES_PER_LOOK === 0) for (const node of fleet.nodes) judgeBound(node);
      },
      finish() {
        if (!hasJumped) judgeScores();
        for (const node of fleet.nodes) {
          judgeBound(node);
          judgeRows(node);
        }
      },
    };
  },
};

function hashOf(rows: readonly Baseline[]): string {
  return createHash('sha256')
    .update(sectionText(distinctItems(rows)))
    .digest('hex');
}
