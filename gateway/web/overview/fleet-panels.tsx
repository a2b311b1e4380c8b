// How the fleet stands beside its health: trust, freshness, engines, versions. Each number is counted from the list that it
// leads to.
import { Link } from '@tanstack/react-router';
import { TRUST_HEALTHS, TRUST_STATES } from '../../../machines/wire/words.ts';
import { useApi } from '../api/client.ts';
import type { SensorTally } from '../api/contract.ts';
import { exact } from '../design/numbers.ts';
import { Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { ENGINE, FRESHNESS, type SensorSearch } from '../sensors/sensor-search.ts';
import { wordOfState } from '../sensors/texts.ts';
import { OVERVIEW_TEXTS as TEXTS } from './texts.ts';

const LOOK_AGAIN_MS = 15_000;
const VERSIONS_SHOWN = 6;
const NOT_REVOKED = TRUST_HEALTHS.filter((health) => health !== 'revoked');
type Row = { readonly word: string; readonly count: number; readonly search: SensorSearch | null };

export function FleetStates() {
  const tally = useApi('GET /sensors/tally', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <>
      <Panel title={TEXTS.states}>
        <Answered of={tally} rows={6}>
          {(counts) => (
            <>
              <Tally title={TEXTS.trust} rows={rowsOf(counts, 'trust_state', TRUST_STATES)} />
              <Tally title={TEXTS.freshness} rows={rowsOf(counts, 'freshness', FRESHNESS)} />
              <Tally title={TEXTS.engine} rows={rowsOf(counts, 'engine', ENGINE)} />
            </>
          )}
        </Answered>
      </Panel>
      <Panel title={TEXTS.versions}>
        <Answered of={tally} rows={3}>
          {(counts) => <Versions tally={counts} />}
        </Answered>
      </Panel>
    </>
  );
}

function Versions({
  tally: { sensor_versions: all, other_versions },
}: {
  readonly tally: SensorTally;
}) {
  const rows = all.slice(0, VERSIONS_SHOWN).map(
    ({ version, sensors }): Row => ({
      word: version,
      count: sensors,
      search: { sensor_version: [version], trust_health: NOT_REVOKED },
    }),
  );
  const others = all.slice(VERSIONS_SHOWN).reduce((sum, one) => sum + one.sensors, other_versions);
  return (
    <>
      <p className="fs-quiet">{TEXTS.skew(all.length + Number(other_versions > 0))}</p>
      <Tally
        title={TEXTS.versions}
        isTitled
        rows={[
          ...rows,
          ...(others === 0 ? [] : [{ word: TEXTS.otherVersions, count: others, search: null }]),
        ]}
      />
    </>
  );
}

function rowsOf(
  tally: SensorTally,
  field: 'trust_state' | 'freshness' | 'engine',
  values: readonly string[],
): readonly Row[] {
  return values.map((value) => ({
    word: wordOfState(value),
    count: tally[field][value] ?? 0,
    search: { [field]: [value] },
  }));
}

/** Names with their numbers; `isTitled` when the title stands above already. */
function Tally({
  title,
  rows,
  isTitled = false,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly isTitled?: boolean;
}) {
  return (
    <>
      {!isTitled && <h3 className="fs-label">{title}</h3>}
      <ul className="fs-tally" aria-label={title}>
        {rows.map(({ word, count, search }) => (
          <li key={word}>
            {search === null ? (
              <span className="fs-tally-link">
                {word}
                <span className="fs-num">{exact(count)}</span>
              </span>
            ) : (
              <Link to="/sensors" search={search} className="fs-tally-link">
                <bdi className="fs-break">{word}</bdi>
                <span className="fs-num">{exact(count)}</span>
              </Link>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
