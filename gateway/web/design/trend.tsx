// A line over time, small enough to stand in a panel, with its table for whoever cannot see it.
import { absolute } from './time.tsx';

const WIDTH = 280;
const HEIGHT = 48;
const ROWS_READ_OUT = 24;

export type Point = { readonly at: string; readonly value: number };

export function Trend({
  title,
  now,
  values,
}: {
  readonly title: string;
  readonly now: string;
  readonly values: readonly Point[];
}) {
  const most = Math.max(...values.map(({ value }) => value), Number.MIN_VALUE);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values
    .map(({ value }, index) => `${index * step},${HEIGHT - (value / most) * (HEIGHT - 4) - 2}`)
    .join(' ');
  const every = Math.ceil(values.length / ROWS_READ_OUT);
  return (
    <figure className="fs-trend">
      <figcaption>
        <span className="fs-quiet">{title}</span> <strong className="fs-num">{now}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <polyline points={points} fill="none" stroke="var(--fs-accent)" strokeWidth="1.5" />
      </svg>
      <table className="fs-hidden">
        <caption>{title}</caption>
        <tbody>
          {values
            .filter((_, index) => index % every === 0)
            .map(({ at, value }) => (
              <tr key={at}>
                <th scope="row">{absolute(at)}</th>
                <td>{value}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}
