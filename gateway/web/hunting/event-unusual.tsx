// Why an event is unusual: what it showed in each respect, and what is usual there; and a way to say that it is usual.
import { Button, TextInput } from '@mantine/core';
import { call, useApi } from '../api/client.ts';
import type { EventItem } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { percent } from '../design/numbers.ts';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

export function EventUnusual({ event }: { readonly event: EventItem }) {
  const { event_id, sensor_id, observed_at } = event;
  const why = useApi('GET /events/explanation', { query: { event_id, sensor_id, observed_at } });
  const mayMark = useMay()('usual:write');
  const binary = event.process?.binary;
  return (
    <Answered of={why}>
      {({ anomaly_score: score, is_declared_usual: isMarked, respects }) => (
        <>
          <p>{score === null ? TEXTS.noScore : `${TEXTS.score} ${score}`}</p>
          {isMarked && <Mark tone="good">{TEXTS.isMarked}</Mark>}
          <ul>
            {respects.map((one) => (
              <li key={`${one.binary} ${one.respect} ${one.value}`}>
                <Mark tone={one.is_unusual ? 'warn' : 'good'}>{one.respect}</Mark>{' '}
                <span className="fs-mono fs-break">{one.value}</span>{' '}
                <span className="fs-meta">
                  {one.share === null ? '' : percent(one.share)} {TEXTS.usual}:{' '}
                  {one.usual.map(({ name, share }) => `${name} ${percent(share)}`).join(', ') ||
                    '–'}
                </span>
              </li>
            ))}
          </ul>
          {mayMark && !isMarked && binary !== undefined && (
            <MarkUsual binary={binary} sensorId={sensor_id} onDone={() => void why.refetch()} />
          )}
        </>
      )}
    </Answered>
  );
}

function MarkUsual({
  binary,
  sensorId,
  onDone,
}: {
  readonly binary: string;
  readonly sensorId: string;
  readonly onDone: () => void;
}) {
  const { isBusy, failure, submit } = useForm(async ({ reason = '' }) => {
    await call('POST /usual-marks', { body: { binary, sensor_id: sensorId, reason } });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="reason" label={TEXTS.reason} required maxLength={512} />
      <Failure text={failure} />
      <Button type="submit" variant="default" loading={isBusy}>
        {TEXTS.markUsual}
      </Button>
    </form>
  );
}
