// What was sent to webhooks, newest first; one of them with every attempt, and again.
import { Button, Checkbox, Drawer, Select } from '@mantine/core';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { AnswerOf, Delivery, Webhook } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, Panel } from '../design/page.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';
import { DELIVERY_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 100;
const TONES: Readonly<Record<string, Tone>> = {
  ...{ waiting: 'soon', sending: 'soon', delivered: 'good', folded: 'stale', dead: 'bad' },
};

export function DeliveryLog({
  webhooks,
  mayReplay,
}: {
  readonly webhooks: readonly Webhook[];
  readonly mayReplay: boolean;
}) {
  const [webhookId, setWebhookId] = useState<string | null>(null);
  const [isDead, setDead] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const log = useApi('GET /deliveries', {
    query: {
      limit: SHOWN,
      ...(webhookId === null ? {} : { webhook_id: webhookId }),
      ...(isDead ? { state: 'dead' as const } : {}),
    },
  });
  return (
    <Panel title={TEXTS.deliveries}>
      <div className="fs-toolbar">
        <Select
          aria-label={TEXTS.webhooks}
          placeholder={TEXTS.allWebhooks}
          clearable
          data={webhooks.map(({ webhook_id: value, name: label }) => ({ value, label }))}
          value={webhookId}
          onChange={setWebhookId}
        />
        <Checkbox
          label={TEXTS.onlyDead}
          checked={isDead}
          onChange={(event) => setDead(event.currentTarget.checked)}
        />
      </div>
      <Answered of={log}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="fs-quiet">{TEXTS.noDeliveries}</p>
          ) : (
            <DataTable
              label={TEXTS.deliveries}
              columns={columnsOf(setShown)}
              rows={items}
              rowKey={(row) => row.delivery_id}
            />
          )
        }
      </Answered>
      <Drawer
        opened={shown !== null}
        onClose={() => setShown(null)}
        position="right"
        size="lg"
        title={TEXTS.delivery}
      >
        {shown !== null && (
          <OneDelivery id={shown} mayReplay={mayReplay} onChange={() => void log.refetch()} />
        )}
      </Drawer>
    </Panel>
  );
}

function columnsOf(onShow: (id: string) => void): readonly Column<Delivery>[] {
  return [
    { id: 'created', title: TEXTS.created, width: 150, cell: (row) => <At at={row.created_at} /> },
    {
      ...{ id: 'kind', title: TEXTS.kind, width: 220, grows: true },
      cell: (row) => (
        <button type="button" className="fs-row-button" onClick={() => onShow(row.delivery_id)}>
          {row.headline}
        </button>
      ),
    },
    { id: 'node', title: TEXTS.node, width: 140, cell: (row) => row.node_name },
    {
      ...{ id: 'state', title: TEXTS.state, width: 110 },
      cell: (row) => <Mark tone={TONES[row.state] ?? 'stale'}>{row.state}</Mark>,
    },
    {
      ...{ id: 'attempts', title: TEXTS.attempts, width: 80, isNumber: true },
      cell: (row) => row.attempts,
    },
  ];
}

function OneDelivery({
  id,
  mayReplay,
  onChange,
}: {
  readonly id: string;
  readonly mayReplay: boolean;
  readonly onChange: () => void;
}) {
  const one = useApi('GET /deliveries/:id', { params: { id } });
  const replay = useForm(async () => {
    await call('POST /deliveries/:id/replay', { params: { id } });
    await one.refetch();
    onChange();
  });
  return (
    <Answered of={one}>
      {({ delivery, tried, folded }) => (
        <div className="fs-form">
          <Facts
            facts={[
              [TEXTS.kind, delivery.alert_kind],
              [TEXTS.node, delivery.node_name],
              [TEXTS.state, delivery.reason ?? delivery.state],
              [TEXTS.created, <Ago key="at" at={delivery.created_at} />],
              ...(folded.length === 0 ? [] : [[TEXTS.carries, folded.join(', ')] as const]),
            ]}
          />
          <Failure text={replay.failure} />
          {mayReplay && (delivery.state === 'delivered' || delivery.state === 'dead') && (
            <div className="fs-toolbar">
              <Button variant="default" loading={replay.isBusy} onClick={() => replay.run()}>
                {TEXTS.replay}
              </Button>
            </div>
          )}
          {tried.map((attempt) => (
            <OneAttempt key={attempt.number} attempt={attempt} />
          ))}
        </div>
      )}
    </Answered>
  );
}

type Attempt = AnswerOf<'GET /deliveries/:id'>['tried'][number];

function OneAttempt({ attempt }: { readonly attempt: Attempt }) {
  const tone = attempt.outcome === 'accepted' ? 'good' : 'bad';
  return (
    <details>
      <summary>
        <Mark tone={tone}>{`${attempt.number}. ${attempt.outcome}`}</Mark> <At at={attempt.at} />{' '}
        {`${attempt.duration_ms} ms`}
      </summary>
      <p>{attempt.detail}</p>
      <div className="fs-meta">{TEXTS.request}</div>
      <pre className="fs-mono">{attempt.request}</pre>
      {attempt.response !== null && attempt.response !== '' && (
        <>
          <div className="fs-meta">{TEXTS.response}</div>
          <pre className="fs-mono">{attempt.response}</pre>
        </>
      )}
    </details>
  );
}
