// Adding a SIEM destination.
import { Button, PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  SIEM_KIND_NAMES,
  SIEM_KINDS,
  type SiemKindName,
} from '../../../machines/console/siem/kinds/kinds.ts';
import { call } from '../api/client.ts';
import { Failure, useForm } from '../design/form.tsx';
import { SIEM_TEXTS as TEXTS } from './texts.ts';

export function NewSiem({ onDone }: { readonly onDone: () => void }) {
  const [kind, setKind] = useState<SiemKindName>('observe');
  const { isBusy, failure, submit } = useForm(async (values) => {
    const { name = '', target_url = '', token = '', filter = '' } = values;
    const { proxy_url = '', ca_pem = '' } = values;
    await call('POST /siem-destinations', {
      body: {
        ...{ kind, name, target_url, filter },
        ...(token === '' ? {} : { token }),
        options: {
          ...(proxy_url === '' ? {} : { proxy_url }),
          ...(ca_pem === '' ? {} : { ca_pem }),
        },
      },
    });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <Select
        label={TEXTS.kind}
        allowDeselect={false}
        data={[...SIEM_KIND_NAMES]}
        value={kind}
        onChange={(next) => setKind(SIEM_KIND_NAMES.find((one) => one === next) ?? 'observe')}
      />
      <TextInput name="name" label={TEXTS.name} required />
      <TextInput name="target_url" label={TEXTS.url} description={TEXTS.urlHint} required />
      {SIEM_KINDS[kind].token !== 'none' && (
        <PasswordInput
          name="token"
          label={TEXTS.token}
          description={TEXTS.tokenHint}
          required={SIEM_KINDS[kind].token === 'needed'}
          autoComplete="off"
        />
      )}
      <TextInput name="filter" label={TEXTS.filter} description={TEXTS.filterHint} />
      <TextInput name="proxy_url" label={TEXTS.proxy} placeholder="http://proxy.example.org:3128" />
      <Textarea name="ca_pem" label={TEXTS.ca} autosize minRows={1} maxRows={6} />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.create}
      </Button>
    </form>
  );
}
