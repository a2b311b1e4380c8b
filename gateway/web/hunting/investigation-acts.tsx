// What may be done with an investigation in its state, and what may be collected.
import { Button, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  INVESTIGATION_OUTCOMES,
  type InvestigationOutcome,
} from '../../../machines/console/hunting/investigation.machine.ts';
import { call } from '../api/client.ts';
import type { Investigation } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

type Acting = { readonly investigation: Investigation; readonly onDone: () => void };

export function InvestigationActs({ investigation, onDone }: Acting) {
  const params = { id: investigation.investigation_id };
  const isClosed = investigation.state === 'closed';
  const { isBusy, failure, run } = useForm(async () => {
    await (isClosed
      ? call('POST /investigations/:id/reopen', { params, body: {} })
      : call('POST /investigations/:id/take', { params, body: {} }));
    onDone();
  });
  return (
    <>
      <div className="fs-toolbar">
        <Button variant="default" loading={isBusy} onClick={() => run()}>
          {isClosed ? TEXTS.reopen : TEXTS.take}
        </Button>
        <Failure text={failure} />
      </div>
      {!isClosed && (
        <div className="fs-grid">
          <Collect investigation={investigation} onDone={onDone} />
          <HandOver investigation={investigation} onDone={onDone} />
          <Close investigation={investigation} onDone={onDone} />
        </div>
      )}
    </>
  );
}

function Collect({ investigation, onDone }: Acting) {
  const params = { id: investigation.investigation_id };
  // What was added is in the timeline; the form is empty again.
  const [added, setAdded] = useState(0);
  const { isBusy, failure, submit } = useForm(async ({ note = '', alert = '', sensor = '' }) => {
    const add = (body: Parameters<typeof call<'POST /investigations/:id/items'>>[1]['body']) =>
      call('POST /investigations/:id/items', { params, body });
    if (alert !== '') await add({ what: 'alert', alert_id: alert, note });
    if (sensor !== '') await add({ what: 'sensor', sensor_id: sensor, note });
    if (alert === '' && sensor === '') await add({ what: 'note', note });
    setAdded((count) => count + 1);
    onDone();
  });
  return (
    <form key={added} onSubmit={submit} className="fs-form" aria-label={TEXTS.collect}>
      <Textarea name="note" label={TEXTS.note} autosize minRows={2} maxRows={8} />
      <TextInput name="alert" label={TEXTS.alertId} />
      <TextInput name="sensor" label={TEXTS.sensorId} />
      <Failure text={failure} />
      <Button type="submit" variant="default" loading={isBusy}>
        {TEXTS.add}
      </Button>
    </form>
  );
}

function HandOver({ investigation, onDone }: Acting) {
  const params = { id: investigation.investigation_id };
  const { isBusy, failure, submit } = useForm(async ({ to = '', text = '' }) => {
    await call('POST /investigations/:id/hand-over', { params, body: { to, text } });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form" aria-label={TEXTS.handOver}>
      <TextInput name="to" label={TEXTS.to} type="email" required />
      <TextInput name="text" label={TEXTS.said} />
      <Failure text={failure} />
      <Button type="submit" variant="default" loading={isBusy}>
        {TEXTS.handOver}
      </Button>
    </form>
  );
}

function Close({ investigation, onDone }: Acting) {
  const params = { id: investigation.investigation_id };
  const [outcome, setOutcome] = useState<InvestigationOutcome>(INVESTIGATION_OUTCOMES[0]);
  const { isBusy, failure, submit } = useForm(async ({ text = '' }) => {
    await call('POST /investigations/:id/close', { params, body: { outcome, text } });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form" aria-label={TEXTS.close}>
      <Select
        label={TEXTS.outcome}
        allowDeselect={false}
        data={INVESTIGATION_OUTCOMES.map((value) => ({ value, label: TEXTS.outcomes[value] }))}
        value={outcome}
        onChange={(next) => setOutcome(next as InvestigationOutcome)}
      />
      <TextInput name="text" label={TEXTS.said} />
      <Failure text={failure} />
      <Button type="submit" variant="default" loading={isBusy}>
        {TEXTS.close}
      </Button>
    </form>
  );
}
