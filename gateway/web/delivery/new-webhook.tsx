// Adding a webhook. A secret that the Console made is shown once, in the same dialog.
import { Button, PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { AlertSeverity } from '../../../machines/console/delivery/alert.ts';
import { WEBHOOK_TYPES } from '../../../machines/console/delivery/formats/formats.ts';
import { ALERT_SEVERITIES } from '../../../machines/wire/words.ts';
import { call } from '../api/client.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { DELIVERY_TEXTS as TEXTS } from './texts.ts';

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

function quietOf(from: string, to: string) {
  return { from, to, time_zone: ZONE, days: [], passes: 'critical' as const };
}

export function NewWebhook({ onDone }: { readonly onDone: () => void }) {
  const [type, setType] = useState<string>(WEBHOOK_TYPES[0]);
  const [least, setLeast] = useState<AlertSeverity>('info');
  const [secret, setSecret] = useState<string | null>(null);
  const { isBusy, failure, submit } = useForm(async (values) => {
    const { name = '', target_url = '', signing_secret = '', ca_pem = '' } = values;
    const { proxy_url = '', quiet_from = '', quiet_to = '', rules = '' } = values;
    const rule_ids = rules.split(/[\s,]+/).filter((id) => id !== '');
    const made = await call('POST /webhooks', {
      body: {
        ...{ webhook_type: type, name, target_url },
        ...(signing_secret === '' ? {} : { signing_secret }),
        options: {
          ...{ min_severity: least, rule_ids },
          ...(ca_pem === '' ? {} : { ca_pem }),
          ...(proxy_url === '' ? {} : { proxy_url }),
          ...(quiet_from === '' ? {} : { quiet_hours: quietOf(quiet_from, quiet_to) }),
        },
      },
    });
    if (made.signing_secret === null) onDone();
    else setSecret(made.signing_secret);
  });
  if (secret !== null) return <SecretOnce secret={secret} onDone={onDone} />;
  return (
    <form onSubmit={submit} className="fs-form">
      <Select
        label={TEXTS.type}
        allowDeselect={false}
        data={[...WEBHOOK_TYPES]}
        value={type}
        onChange={(next) => setType(next ?? WEBHOOK_TYPES[0])}
      />
      <TextInput name="name" label={TEXTS.name} required />
      <TextInput
        name="target_url"
        label={TEXTS.url}
        placeholder="https://hooks.example.org/alerts"
        required
      />
      <PasswordInput
        name="signing_secret"
        label={TEXTS.secret}
        description={TEXTS.secretHint}
        autoComplete="off"
      />
      <Select
        label={TEXTS.leastSeverity}
        allowDeselect={false}
        data={[...ALERT_SEVERITIES]}
        value={least}
        onChange={(next) => setLeast(next as AlertSeverity)}
      />
      <TextInput name="rules" label={TEXTS.onlyRules} description={TEXTS.onlyRulesHint} />
      <div className="fs-toolbar">
        <TextInput name="quiet_from" type="time" label={TEXTS.quietFrom} />
        <TextInput name="quiet_to" type="time" label={TEXTS.quietTo} />
      </div>
      <div className="fs-meta">{TEXTS.quietHint(ZONE)}</div>
      <TextInput name="proxy_url" label={TEXTS.proxy} placeholder="http://proxy.example.org:3128" />
      <Textarea name="ca_pem" label={TEXTS.ca} autosize minRows={1} maxRows={6} />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.create}
      </Button>
    </form>
  );
}

export function SecretOnce({
  secret,
  onDone,
}: {
  readonly secret: string;
  readonly onDone: () => void;
}) {
  return (
    <div className="fs-form">
      <div className="fs-meta">{TEXTS.madeSecret}</div>
      <CodeLine value={secret} label={TEXTS.madeSecret} />
      <Button onClick={onDone}>{TEXTS.done}</Button>
    </div>
  );
}
