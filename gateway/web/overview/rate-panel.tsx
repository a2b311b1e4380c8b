// Events of the last hour: how many in each minute, stacked by severity, and each severity's number as the way to its list.
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import type { Bar } from '../design/bars.ts';
import { exact } from '../design/numbers.ts';
import { Panel } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Answered } from '../design/states.tsx';
import { absolute } from '../design/time.tsx';
import { barsOf, totalsOf } from './rate-bars.ts';
import { OVERVIEW_TEXTS as TEXTS } from './texts.ts';

const FROM = 'now-1h';
const LOOK_AGAIN_MS = 15_000;
const HEIGHT = 64;
const BAR = 8;

export function RatePanel() {
  const rate = useApi(
    'GET /events/rate',
    { query: { from: FROM } },
    { refetchInterval: LOOK_AGAIN_MS },
  );
  return (
    <Panel title={TEXTS.rate}>
      <Answered of={rate} rows={5}>
        {(answer) => (
          <>
            <Bars bars={barsOf(answer)} />
            <ul className="fs-tally">
              {totalsOf(answer).map(({ severity, events }) => (
                <li key={severity}>
                  <Link
                    to="/events"
                    search={{ from: FROM, severity: [severity] }}
                    className="fs-tally-link"
                  >
                    <SeverityMark severity={severity} />
                    <span className="fs-num">{exact(events)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answered>
    </Panel>
  );
}

function Bars({ bars }: { readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ total }) => total));
  return (
    <figure className="fs-trend">
      <svg
        viewBox={`0 0 ${bars.length * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map(({ at, parts }, step) => {
          let foot = HEIGHT;
          return parts.map(({ severity, events }) => {
            const height = (events / most) * HEIGHT;
            foot -= height;
            return (
              <rect
                key={`${at} ${severity}`}
                x={step * BAR}
                y={foot}
                width={BAR - 1}
                height={height}
                fill={`var(--fs-${severity})`}
              />
            );
          });
        })}
      </svg>
      <figcaption className="fs-meta">
        {bars.some(({ total }) => total > 0) ? TEXTS.rateMost(exact(most)) : TEXTS.noRate}
      </figcaption>
      <table className="fs-hidden">
        <caption>{TEXTS.rate}</caption>
        <tbody>
          {bars
            .filter(({ total }) => total > 0)
            .map(({ at, total }) => (
              <tr key={at}>
                <th scope="row">{absolute(at)}</th>
                <td>{total}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}
