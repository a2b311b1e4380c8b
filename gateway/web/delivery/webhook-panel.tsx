// One webhook: how it fares, and what may be done with it.
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { Webhook } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { type Fact, Facts, Panel } from '../design/page.tsx';
import { Removal } from '../design/removal.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Ago } from '../design/time.tsx';
import { SecretOnce } from './new-webhook.tsx';
import { DELIVERY_TEXTS as TEXTS } from './texts.ts';

type Props = {
  readonly webhook: Webhook;
  readonly mayWrite: boolean;
  readonly onChange: () => void;
};

export function WebhookPanel(props: Props) {
  const { webhook, mayWrite } = props;
  const [tone, word] = stateOf(webhook);
  const facts: readonly Fact[] = [
    [
      TEXTS.status,
      <Mark key="state" tone={tone}>
        {word}
      </Mark>,
    ],
    [TEXTS.type, webhook.webhook_type],
    [TEXTS.url, webhook.target_url],
    [TEXTS.delivered, <Ago key="at" at={webhook.last_delivered_at} />],
    [TEXTS.failure, <LastFailure key="failure" of={webhook} />],
    ...(webhook.options.quiet_hours === null
      ? []
      : [[TEXTS.quiet, quietText(webhook.options.quiet_hours)] as const]),
    ...(webhook.options.proxy_url === null
      ? []
      : [[TEXTS.proxy, webhook.options.proxy_url] as const]),
    ...(webhook.rotates_at === null
      ? []
      : [[TEXTS.rotating, <Ago key="until" at={webhook.rotates_at} />] as const]),
  ];
  return (
    <Panel title={webhook.name}>
      <div className="fs-form">
        <Facts facts={facts} />
        {mayWrite && <Acts {...props} />}
      </div>
    </Panel>
  );
}

function Acts({ webhook, onChange }: Props) {
  const params = { id: webhook.webhook_id };
  const [said, setSaid] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const { is_paused: isPaused, is_rotating: isRotating } = webhook;
  const test = useForm(async () => {
    const tested = await call('POST /webhooks/:id/test', { params });
    setSaid(tested.is_delivered ? TEXTS.tested : `${tested.outcome}: ${tested.detail}`);
  });
  const toggle = useForm(async () => {
    await call(isPaused ? 'POST /webhooks/:id/resume' : 'POST /webhooks/:id/pause', { params });
    onChange();
  });
  const rotate = useForm(async () => {
    const body = isRotating ? { overlap_hours: 0 } : {};
    const made = await call('POST /webhooks/:id/rotate-secret', { params, body });
    if (made.signing_secret === null) onChange();
    else setSecret(made.signing_secret);
  });
  const replay = useForm(async () => {
    const { replayed } = await call('POST /webhooks/:id/replay-dead', { params });
    setSaid(TEXTS.replayed(replayed));
  });
  const close = () => {
    setSecret(null);
    onChange();
  };
  return (
    <>
      {said !== null && <p role="status">{said}</p>}
      <Failure text={test.failure ?? toggle.failure ?? rotate.failure ?? replay.failure} />
      <div className="fs-toolbar">
        <Button variant="default" loading={test.isBusy} onClick={() => test.run()}>
          {TEXTS.test}
        </Button>
        <Button variant="default" loading={toggle.isBusy} onClick={() => toggle.run()}>
          {isPaused ? TEXTS.resume : TEXTS.pause}
        </Button>
        {webhook.webhook_type === 'generic' && (
          <Button variant="default" loading={rotate.isBusy} onClick={() => rotate.run()}>
            {isRotating ? TEXTS.endRotation : TEXTS.rotate}
          </Button>
        )}
        <Button variant="default" loading={replay.isBusy} onClick={() => replay.run()}>
          {TEXTS.replayDead}
        </Button>
        <Button color="red" variant="outline" onClick={() => setRemoving(true)}>
          {TEXTS.remove}
        </Button>
      </div>
      <Modal opened={secret !== null} onClose={close} title={TEXTS.rotate}>
        <SecretOnce secret={secret ?? ''} onDone={close} />
      </Modal>
      <Modal opened={isRemoving} onClose={() => setRemoving(false)} title={TEXTS.remove}>
        <Removal
          {...{ nameLabel: TEXTS.name, removeLabel: TEXTS.remove, onDone: onChange }}
          name={webhook.name}
          hint={TEXTS.removeHint(webhook.name)}
          remove={() => call('DELETE /webhooks/:id', { params })}
        />
      </Modal>
    </>
  );
}

function LastFailure({ of }: { readonly of: Webhook }) {
  if (of.last_failure === null) return '–';
  return (
    <>
      {of.last_failure}, <Ago at={of.last_failed_at} />
    </>
  );
}

function quietText(hours: NonNullable<Webhook['options']['quiet_hours']>): string {
  return `${hours.from}–${hours.to} ${hours.time_zone}`;
}

function stateOf(webhook: Webhook): readonly [Tone, string] {
  const { is_paused, breaker, last_failed_at: failed, last_delivered_at: delivered } = webhook;
  if (is_paused) return ['stale', TEXTS.paused];
  if (breaker !== 'closed') return ['bad', TEXTS.failing];
  const isLastFailed = failed !== null && (delivered === null || failed > delivered);
  return isLastFailed ? ['warn', TEXTS.lastFailed] : ['good', TEXTS.active];
}
