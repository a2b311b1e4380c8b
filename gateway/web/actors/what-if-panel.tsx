// Trying an event on a copy: choose one, change its fields, see where it leads and what it would cause.
import { Button, Select, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { SensorEvent } from '../../../machines/console/fleet/sensor.machine.ts';
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';
import { Failure } from '../design/form.tsx';
import { JsonChange } from '../design/json.tsx';
import { Panel } from '../design/page.tsx';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';
import { type Outcome, triables, whatIf } from './what-if.ts';

type Type = SensorEvent['type'];

export function WhatIf({
  regions,
  context,
}: {
  readonly regions: Readonly<Record<string, string>>;
  readonly context: SensorContext;
}) {
  const [type, setType] = useState<Type>('stream.closed');
  const [fields, setFields] = useState(() => fieldsOf(type));
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const choose = (next: string | null) => {
    if (next === null) return;
    setType(next as Type);
    setFields(fieldsOf(next as Type));
    setOutcome(null);
  };
  const attempt = () => {
    setFailure(null);
    setOutcome(null);
    const payload = objectIn(fields);
    if (payload === null) return setFailure(TEXTS.notJson);
    try {
      return setOutcome(whatIf(regions, context, { ...payload, type } as SensorEvent));
    } catch (error) {
      return setFailure(String(error));
    }
  };
  return (
    <Panel title={TEXTS.whatIf}>
      <div className="fs-form">
        <p className="fs-meta">{TEXTS.whatIfHint}</p>
        <Select
          size="xs"
          label={TEXTS.event}
          allowDeselect={false}
          data={Object.keys(triables(0))}
          value={type}
          onChange={choose}
        />
        <Textarea
          size="xs"
          label={TEXTS.payload}
          autosize
          minRows={2}
          maxRows={10}
          classNames={{ input: 'fs-mono' }}
          value={fields}
          onChange={({ currentTarget }) => setFields(currentTarget.value)}
        />
        <Failure text={failure} />
        <Button variant="default" onClick={attempt}>
          {TEXTS.tryIt}
        </Button>
        {outcome !== null && <Told outcome={outcome} context={context} />}
      </div>
    </Panel>
  );
}

function Told({
  outcome,
  context,
}: {
  readonly outcome: Outcome;
  readonly context: SensorContext;
}) {
  return (
    <div role="status" className="fs-form">
      <div>
        <strong>{TEXTS.leadsTo}</strong>
        {outcome.moves.length === 0 && <p className="fs-quiet">{TEXTS.nothingMoves}</p>}
        {outcome.moves.map(([region, from, to]) => (
          <div key={region}>
            <span className="fs-quiet">{region}</span> {from} → <strong>{to}</strong>
          </div>
        ))}
      </div>
      <div>
        <strong>{TEXTS.effects}</strong>{' '}
        {outcome.effects.length === 0 ? TEXTS.noEffects : outcome.effects.join(', ')}
      </div>
      <JsonChange before={context} after={outcome.context} />
    </div>
  );
}

function fieldsOf(type: Type): string {
  const { type: _type, ...fields } = triables(Date.now())[type];
  return JSON.stringify(fields, null, 2);
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
