// Where exports go. The secret goes in, and never comes out again.
import {
  Button,
  Checkbox,
  MultiSelect,
  PasswordInput,
  Select,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { EXPORT_TABLES } from '../../../machines/console/exports/export-run.rules.ts';
import { call } from '../api/client.ts';
import type { BodyOf, ExportTarget } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { EXPORT_TEXTS as TEXTS } from './texts.ts';

type Kind = 's3' | 'directory';

export function TargetForm({
  target,
  onDone,
}: {
  readonly target: ExportTarget | null;
  readonly onDone: () => void;
}) {
  const [kind, setKind] = useState<Kind>(target?.kind === 'directory' ? 'directory' : 's3');
  const [tables, setTables] = useState<string[]>([...(target?.tables ?? EXPORT_TABLES)]);
  const { isBusy, failure, submit } = useForm(async (values) => {
    const { prefix = '', from_day = '', is_on } = values;
    await call('PUT /exports/target', {
      body: {
        ...{ revision: target?.revision ?? 0, kind, prefix, is_on: is_on !== undefined },
        tables: tables as NonNullable<BodyOf<'PUT /exports/target'>['tables']>,
        ...(from_day === '' ? {} : { from_day }),
        ...(kind === 's3' ? { s3: s3Of(values) } : {}),
      },
    });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <Select
        label={TEXTS.kind}
        allowDeselect={false}
        data={[
          { value: 's3', label: TEXTS.s3 },
          { value: 'directory', label: TEXTS.directory },
        ]}
        value={kind}
        onChange={(next) => setKind(next as Kind)}
      />
      {kind === 's3' && <BucketFields target={target} />}
      <TextInput name="prefix" label={TEXTS.prefix} defaultValue={target?.prefix ?? ''} />
      <TextInput
        name="from_day"
        label={TEXTS.fromDay}
        placeholder="2026-01-31"
        defaultValue={target?.from_day ?? ''}
      />
      <MultiSelect
        label={TEXTS.tables}
        data={[...EXPORT_TABLES]}
        value={tables}
        onChange={setTables}
      />
      <Checkbox name="is_on" label={TEXTS.isOn} defaultChecked={target?.is_on ?? true} />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.save}
      </Button>
    </form>
  );
}

function BucketFields({ target }: { readonly target: ExportTarget | null }) {
  const s3 = target?.s3 ?? null;
  return (
    <>
      <TextInput
        name="endpoint"
        label={TEXTS.endpoint}
        placeholder="https://s3.eu-central-1.amazonaws.com"
        defaultValue={s3?.endpoint ?? ''}
        required
      />
      <TextInput name="region" label={TEXTS.region} defaultValue={s3?.region ?? ''} required />
      <TextInput name="bucket" label={TEXTS.bucket} defaultValue={s3?.bucket ?? ''} required />
      <TextInput
        name="access_key_id"
        label={TEXTS.accessKey}
        defaultValue={s3?.access_key_id ?? ''}
        autoComplete="off"
        required
      />
      <PasswordInput
        name="secret_access_key"
        label={TEXTS.secret}
        description={s3 === null ? undefined : TEXTS.secretHint}
        autoComplete="off"
      />
      <TextInput
        name="proxy_url"
        label={TEXTS.proxy}
        placeholder="http://proxy.example.org:3128"
        defaultValue={s3?.proxy_url ?? ''}
      />
      <Textarea
        name="ca_pem"
        label={TEXTS.ca}
        defaultValue={s3?.ca_pem ?? ''}
        autosize
        minRows={1}
        maxRows={6}
      />
    </>
  );
}

function s3Of(values: Readonly<Record<string, string>>) {
  const { endpoint = '', region = '', bucket = '', access_key_id = '' } = values;
  const { secret_access_key = '', ca_pem = '', proxy_url = '' } = values;
  return {
    ...{ endpoint, region, bucket, access_key_id, ca_pem: ca_pem === '' ? null : ca_pem },
    proxy_url: proxy_url === '' ? null : proxy_url,
    ...(secret_access_key === '' ? {} : { secret_access_key }),
  };
}
