// The node's own statecharts as it reports them, and what went between node and Console.
import { Select } from '@mantine/core';
import { useApi } from '../api/client.ts';
import type { SensorMove } from '../api/contract.ts';
import { Panel } from '../design/page.tsx';
import { Ago, At } from '../design/time.tsx';
import { exchangesOf } from './exchanges.ts';
import { NODE_TREES, statesIn } from './node-trees.ts';
import { type ChartFacts, StateChart } from './state-chart.tsx';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';

const SHOWN_MAX = 60;
const LOOK_AGAIN_MS = 5_000;
type Reported = {
  readonly value: string;
  readonly since: string;
  readonly due: string | null;
  readonly reportedAt: string;
};

/** `asOf`: the instant of the past that is shown; `moves`: every recorded one until then, newest first. */
export function NodePart({
  id,
  asOf,
  moves,
  machine,
  onChoose,
}: {
  readonly id: string;
  readonly asOf: string | null;
  readonly moves: readonly SensorMove[];
  readonly machine: string;
  readonly onChoose: (machine: string) => void;
}) {
  const live = useApi(
    'GET /sensors/:id/machines',
    { params: { id } },
    { refetchInterval: LOOK_AGAIN_MS, enabled: asOf === null },
  );
  const now = live.data?.items.map(
    ({ machine: name, reported_at, ...report }) =>
      [name, { ...report, reportedAt: reported_at }] as const,
  );
  const reports = new Map<string, Reported>(asOf === null ? now : thenOf(moves));
  const report = reports.get(machine);
  const tree = NODE_TREES[machine];
  return (
    <>
      <Panel title={TEXTS.node}>
        <p className="fs-meta">{TEXTS.nodeHint}</p>
        <Select
          size="xs"
          label={TEXTS.nodeMachine}
          allowDeselect={false}
          data={Object.keys(NODE_TREES).map((name) => ({
            value: name,
            label: `${name}: ${reports.get(name)?.value ?? TEXTS.notReported}`,
          }))}
          value={machine}
          onChange={(name) => name !== null && onChoose(name)}
        />
        {report !== undefined && (
          <p className="fs-meta">
            {TEXTS.reported} <Ago at={report.reportedAt} />
          </p>
        )}
        {tree !== undefined && (
          <StateChart
            tree={tree}
            facts={factsOf(report, asOf)}
            label={TEXTS.chart(`${machine}, ${TEXTS.node}`)}
          />
        )}
      </Panel>
      <Sequence moves={moves} />
    </>
  );
}

function thenOf(moves: readonly SensorMove[]): readonly (readonly [string, Reported])[] {
  const told = moves.filter(({ kind }) => kind.startsWith('node/')).toReversed();
  return told.flatMap(({ kind, to, at, facts }) => {
    const { since, due } = facts as { readonly since?: string; readonly due?: string };
    const report = { value: to, since: since ?? at, due: due ?? null, reportedAt: at };
    return [[kind.slice('node/'.length), report] as const];
  });
}

function factsOf(report: Reported | undefined, asOf: string | null): ChartFacts {
  const active = statesIn(report?.value ?? '');
  const sinceMs = report === undefined ? Number.NaN : Date.parse(report.since);
  const dueMs = report?.due == null ? Number.NaN : Date.parse(report.due);
  const [leaf] = active.filter((path) => !active.some((one) => one.startsWith(`${path}.`)));
  return {
    active: new Set(active),
    since: new Map(Number.isNaN(sinceMs) ? [] : active.map((path) => [path, sinceMs])),
    timers: new Map(
      leaf === undefined || Number.isNaN(dueMs) ? [] : [[leaf, { dueMs, setMs: sinceMs }]],
    ),
    last: null,
    asOfMs: asOf === null ? null : Date.parse(asOf),
  };
}

function Sequence({ moves }: { readonly moves: readonly SensorMove[] }) {
  const exchanges = exchangesOf(moves).slice(0, SHOWN_MAX);
  return (
    <Panel title={TEXTS.sequence}>
      {exchanges.length === 0 && <p className="fs-quiet">{TEXTS.noMoves}</p>}
      {exchanges.length > 0 && (
        <div className="fs-sequence">
          <div className="fs-sequence-row" aria-hidden="true">
            <span />
            <strong>{TEXTS.nodeLine}</strong>
            <strong>{TEXTS.consoleLine}</strong>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section className="fs-sequence-list" aria-label={TEXTS.sequence} tabIndex={0}>
            <ol>
              {exchanges.map(({ at, way, words, more }) => (
                <li key={`${at}/${way}/${words}/${more}`} className="fs-sequence-row">
                  <At at={at} />
                  <span className={`fs-message fs-way-${way}`}>
                    <span className="fs-hidden">{TEXTS.ways[way]}</span>
                    <span className="fs-break">
                      {words} <span className="fs-quiet">{more}</span>
                    </span>
                  </span>
                </li>
              ))}
            </ol>
          </section>
        </div>
      )}
    </Panel>
  );
}
