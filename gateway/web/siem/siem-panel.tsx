// One SIEM destination: how it fares, and what may be done with it.
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { SiemDestination } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { type Fact, Facts, Panel } from '../design/page.tsx';
import { Removal } from '../design/removal.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Ago } from '../design/time.tsx';
import { SIEM_TEXTS as TEXTS } from './texts.ts';

type Props = {
  readonly destination: SiemDestination;
  readonly mayWrite: boolean;
  readonly onChange: () => void;
};

export function SiemPanel(props: Props) {
  const { destination: one, mayWrite } = props;
  const [tone, word] = stateOf(one.state);
  const facts: readonly Fact[] = [
    [
      TEXTS.status,
      <Mark key="state" tone={tone}>
        {word}
      </Mark>,
    ],
    [TEXTS.kind, one.kind],
    [TEXTS.url, one.target_url],
    [TEXTS.filter, one.filter === '' ? TEXTS.all : <code key="filter">{one.filter}</code>],
    [TEXTS.lag, `${one.lag_seconds.toLocaleString('en')} s`],
    [TEXTS.upTo, <Ago key="to" at={one.sent_up_to} />],
    [TEXTS.sent, TEXTS.events(one.sent_events)],
    ...(one.refused_events === 0
      ? []
      : [[TEXTS.refused, TEXTS.events(one.refused_events)] as const]),
    ...(one.last_failure === null ? [] : [[TEXTS.failure, one.last_failure] as const]),
  ];
  return (
    <Panel title={one.name}>
      <div className="fs-form">
        <Facts facts={facts} />
        {mayWrite && <Acts {...props} />}
      </div>
    </Panel>
  );
}

function Acts({ destination, onChange }: Props) {
  const params = { id: destination.destination_id };
  const [said, setSaid] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const isHeld = destination.state === 'paused' || destination.state === 'stopped';
  const test = useForm(async () => {
    const tested = await call('POST /siem-destinations/:id/test', { params });
    setSaid(tested.is_accepted ? TEXTS.tested : tested.detail);
  });
  const toggle = useForm(async () => {
    if (isHeld) await call('POST /siem-destinations/:id/resume', { params, body: {} });
    else await call('POST /siem-destinations/:id/pause', { params });
    onChange();
  });
  return (
    <>
      {said !== null && <p role="status">{said}</p>}
      <Failure text={test.failure ?? toggle.failure} />
      <div className="fs-toolbar">
        <Button variant="default" loading={test.isBusy} onClick={() => test.run()}>
          {TEXTS.test}
        </Button>
        <Button variant="default" loading={toggle.isBusy} onClick={() => toggle.run()}>
          {isHeld ? TEXTS.resume : TEXTS.pause}
        </Button>
        <Button color="red" variant="outline" onClick={() => setRemoving(true)}>
          {TEXTS.remove}
        </Button>
      </div>
      <Modal opened={isRemoving} onClose={() => setRemoving(false)} title={TEXTS.remove}>
        <Removal
          {...{ nameLabel: TEXTS.name, removeLabel: TEXTS.remove, onDone: onChange }}
          name={destination.name}
          hint={TEXTS.removeHint(destination.name)}
          remove={() => call('DELETE /siem-destinations/:id', { params })}
        />
      </Modal>
    </>
  );
}

function stateOf(state: string): readonly [Tone, string] {
  if (state === 'forwarding') return ['good', TEXTS.forwarding];
  if (state === 'holding') return ['warn', TEXTS.holding];
  if (state === 'open') return ['bad', TEXTS.open];
  return state === 'stopped' ? ['bad', TEXTS.stopped] : ['stale', TEXTS.paused];
}
