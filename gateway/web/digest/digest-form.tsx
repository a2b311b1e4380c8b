// Setting up a digest, or changing one. The secret goes in, and never comes out again.
import { Button, Checkbox, PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { BodyOf, Digest } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { DIGEST_TEXTS as TEXTS } from './texts.ts';

type Values = Readonly<Record<string, string>>;
type Way = 'mail' | 'webhook';
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const GROUPS_SHOWN = 200;
const FLEET = '';

export function DigestForm({
  digest,
  onDone,
}: {
  readonly digest: Digest | null;
  readonly onDone: () => void;
}) {
  const [way, setWay] = useState<Way>(digest?.webhook ? 'webhook' : 'mail');
  const [zone, setZone] = useState(
    digest?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  const [group, setGroup] = useState(digest?.group_id ?? FLEET);
  const { isBusy, failure, submit } = useForm(async (values) => {
    const body = { ...bodyOf(values, way), time_zone: zone, group_id: group || null };
    if (digest === null) await call('POST /digests', { body });
    else {
      await call('PUT /digests/:id', {
        params: { id: digest.digest_id },
        body: { ...body, revision: digest.revision },
      });
    }
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="name" label={TEXTS.name} defaultValue={digest?.name ?? ''} required />
      <GroupSelect value={group} onChange={setGroup} />
      <Select
        label={TEXTS.zone}
        searchable
        allowDeselect={false}
        data={[...new Set([zone, ...ZONES])]}
        value={zone}
        onChange={(next) => setZone(next ?? 'UTC')}
      />
      <TextInput
        name="at"
        type="time"
        label={TEXTS.at}
        defaultValue={digest?.at ?? '08:00'}
        required
      />
      <Select
        label={TEXTS.way}
        allowDeselect={false}
        data={[
          { value: 'mail', label: TEXTS.mail },
          { value: 'webhook', label: TEXTS.webhook },
        ]}
        value={way}
        onChange={(next) => setWay(next === 'webhook' ? 'webhook' : 'mail')}
      />
      {way === 'mail' ? <MailFields digest={digest} /> : <WebhookField digest={digest} />}
      <WayFields digest={digest} />
      <Checkbox name="is_on" label={TEXTS.isOn} defaultChecked={digest?.is_on ?? true} />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.save}
      </Button>
    </form>
  );
}

/** What both ways have. */
function WayFields({ digest }: { readonly digest: Digest | null }) {
  return (
    <>
      <PasswordInput
        name="secret"
        label={TEXTS.secret}
        description={TEXTS.secretHint}
        autoComplete="off"
      />
      <TextInput name="proxy_url" label={TEXTS.proxy} defaultValue={digest?.proxy_url ?? ''} />
      <Textarea
        name="ca_pem"
        label={TEXTS.ca}
        defaultValue={digest?.ca_pem ?? ''}
        autosize
        minRows={1}
        maxRows={6}
      />
    </>
  );
}

function GroupSelect({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const groups = useApi('GET /groups', { query: { limit: GROUPS_SHOWN } });
  const known = groups.data?.items ?? [];
  return (
    <Select
      label={TEXTS.group}
      searchable
      allowDeselect={false}
      data={[
        { value: FLEET, label: TEXTS.fleet },
        ...known.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value}
      onChange={(next) => onChange(next ?? FLEET)}
    />
  );
}

function MailFields({ digest }: { readonly digest: Digest | null }) {
  const mail = digest?.mail ?? null;
  return (
    <>
      <TextInput name="host" label={TEXTS.host} defaultValue={mail?.host ?? ''} required />
      <TextInput
        name="port"
        label={TEXTS.port}
        inputMode="numeric"
        defaultValue={mail?.port ?? 465}
        required
      />
      <Select
        name="security"
        label={TEXTS.security}
        allowDeselect={false}
        data={[
          { value: 'tls', label: TEXTS.tls },
          { value: 'starttls', label: TEXTS.starttls },
        ]}
        defaultValue={mail?.security ?? 'tls'}
      />
      <TextInput
        name="username"
        label={TEXTS.username}
        defaultValue={mail?.username ?? ''}
        autoComplete="off"
      />
      <TextInput name="sender" label={TEXTS.sender} defaultValue={mail?.sender ?? ''} required />
      <Textarea
        name="recipients"
        label={TEXTS.recipients}
        defaultValue={mail?.recipients.join('\n') ?? ''}
        autosize
        minRows={2}
        required
      />
    </>
  );
}

function WebhookField({ digest }: { readonly digest: Digest | null }) {
  return (
    <TextInput
      name="target_url"
      label={TEXTS.url}
      placeholder="https://"
      defaultValue={digest?.webhook?.target_url ?? ''}
      required
    />
  );
}

function bodyOf(values: Values, way: Way): Omit<BodyOf<'POST /digests'>, 'time_zone' | 'group_id'> {
  const { name = '', at = '', secret = '', ca_pem = '', proxy_url = '', is_on } = values;
  return {
    ...{ name, at, is_on: is_on !== undefined },
    ...{ ca_pem: ca_pem || null, proxy_url: proxy_url || null },
    ...(secret === '' ? {} : { secret }),
    ...(way === 'mail' ? { mail: mailIn(values) } : {}),
    ...(way === 'webhook' ? { webhook: { target_url: values['target_url'] ?? '' } } : {}),
  };
}

function mailIn(values: Values): NonNullable<BodyOf<'POST /digests'>['mail']> {
  const { host = '', port = '', username = '', sender = '', recipients = '' } = values;
  return {
    ...{ host, port: Number(port), username: username || null, sender },
    security: values['security'] === 'starttls' ? 'starttls' : 'tls',
    recipients: recipients.split(/[\s,]+/).filter((one) => one !== ''),
  };
}
