// Whether a node is cut off, by whose order and until when; and the two acts. Containing wants the name typed, because it
// ends every connection of the node but one. A failure is told as it happens.
import { Alert, Button, Modal, NumberInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { SensorContainment, SensorDetail } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { StateMark } from '../sensors/state-marks.tsx';
import { useMay } from '../session/session.ts';
import { CONTAINMENT_TEXTS as TEXTS } from './texts.ts';

const REASON_MAX = 512;
const HOURS_MAX = 8_760;
type Act = 'contain' | 'release';

export function ContainmentPanel({ sensor }: { readonly sensor: SensorDetail }) {
  const id = sensor.sensor_id;
  const may = useMay();
  const [act, setAct] = useState<Act | null>(null);
  const containment = useApi('GET /sensors/:id/containment', { params: { id } });
  useTopic({ topic: 'sensor', id }, () => void containment.refetch());
  const isActing = may('assignments:write') && sensor.revoked_at === null;
  return (
    <Panel title={TEXTS.title}>
      <Answered of={containment}>
        {(data) => (
          <>
            {data.state === 'failed' && (
              <Alert color="red" title={TEXTS.failed}>
                {data.failure}
              </Alert>
            )}
            <Facts facts={factsOf(data)} />
            {isActing && (
              <div className="fs-toolbar">
                <Button color="red" variant="outline" onClick={() => setAct('contain')}>
                  {TEXTS.contain}
                </Button>
                <Button
                  variant="default"
                  disabled={data.state === 'released'}
                  onClick={() => setAct('release')}
                >
                  {TEXTS.release}
                </Button>
              </div>
            )}
            <ActDialog
              sensor={sensor}
              act={act}
              limits={data.known_limits}
              onClose={() => setAct(null)}
            />
          </>
        )}
      </Answered>
    </Panel>
  );
}

function factsOf({ state, is_contained: isContained, order }: SensorContainment) {
  return [
    [TEXTS.state, <StateMark key="s" state={state} />],
    [TEXTS.isContained, isContained ? TEXTS.yes : TEXTS.no],
    ...(order === null
      ? []
      : ([
          [TEXTS.order, order.wanted],
          [TEXTS.reasonFact, order.reason],
          [TEXTS.by, order.ordered_by],
          [TEXTS.at, <Ago key="a" at={order.ordered_at} />],
          ...(order.wanted === 'contained'
            ? [[TEXTS.until, order.until === null ? TEXTS.noEnd : <Ago key="u" at={order.until} />]]
            : []),
        ] as const)),
  ] as React.ComponentProps<typeof Facts>['facts'];
}

function ActDialog({
  sensor,
  act,
  limits,
  onClose,
}: {
  readonly sensor: SensorDetail;
  readonly act: Act | null;
  readonly limits: readonly string[];
  readonly onClose: () => void;
}) {
  const cache = useQueryClient();
  const [typed, setTyped] = useState('');
  const [hours, setHours] = useState<string | number>('');
  const { isBusy, failure, submit } = useForm(async ({ reason = '' }) => {
    const params = { id: sensor.sensor_id };
    const until = hours === '' ? {} : { until: `now+${Number(hours)}h` };
    if (act === 'contain') {
      await call('POST /sensors/:id/contain', { params, body: { reason, ...until } });
    } else await call('POST /sensors/:id/release', { params, body: { reason } });
    setTyped('');
    await cache.invalidateQueries();
    onClose();
  });
  const isContaining = act === 'contain';
  const name = sensor.node_name;
  return (
    <Modal
      opened={act !== null}
      onClose={onClose}
      title={isContaining ? TEXTS.contain : TEXTS.release}
    >
      <form onSubmit={submit} className="fs-form">
        <p className="fs-break">
          {isContaining ? TEXTS.containHint(name) : TEXTS.releaseHint(name)}
        </p>
        {isContaining && (
          <>
            <p>{TEXTS.limits}</p>
            <ul>
              {limits.map((limit) => (
                <li key={limit}>{limit}</li>
              ))}
            </ul>
            <TextInput
              label={TEXTS.typeName}
              placeholder={name}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            <NumberInput
              label={TEXTS.hours}
              value={hours}
              onChange={setHours}
              min={1}
              max={HOURS_MAX}
              allowDecimal={false}
            />
          </>
        )}
        <TextInput name="reason" label={TEXTS.reason} maxLength={REASON_MAX} required />
        <Failure text={failure} />
        <Button
          type="submit"
          {...(isContaining ? { color: 'red' } : {})}
          loading={isBusy}
          disabled={isContaining && typed !== name}
        >
          {isContaining ? TEXTS.contain : TEXTS.release}
        </Button>
      </form>
    </Modal>
  );
}
