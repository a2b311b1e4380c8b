// Every setting with its default, when it counts and who changed it; edited as what it is: a number, a choice, a list.
import {
  Button,
  MultiSelect,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asking, call, useApi } from '../api/client.ts';
import type { Setting } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Answered } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

type Schema = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
};

export function GeneralTab() {
  const settings = useApi('GET /settings', {});
  return (
    <Answered of={settings}>
      {({ items }) => (
        <div className="fs-settings">
          {items.map((setting) => (
            <SettingForm key={`${setting.name}/${setting.revision}`} setting={setting} />
          ))}
        </div>
      )}
    </Answered>
  );
}

function SettingForm({ setting }: { readonly setting: Setting }) {
  const may = useMay();
  const cache = useQueryClient();
  const [value, setValue] = useState<unknown>(setting.value);
  const send = useForm(async ({ reset }) => {
    const { name, revision } = setting;
    const values = { [name]: reset === 'yes' ? null : value };
    const answer = await call('PATCH /settings', {
      body: { values, revisions: { [name]: revision } },
    });
    cache.setQueryData(asking('GET /settings', {}).queryKey, answer);
  });
  const isChanged = JSON.stringify(value) !== JSON.stringify(setting.value);
  const isOwn = JSON.stringify(setting.value) !== JSON.stringify(setting.default);
  return (
    <section className="fs-setting" aria-label={setting.name}>
      <div>
        <div className="fs-label">{setting.name.replaceAll('_', ' ')}</div>
        <p className="fs-quiet">{setting.about}</p>
        <p className="fs-meta">
          {TEXTS.default}: {textOf(setting.default)}
          {setting.applies === 'waiting' && `; ${TEXTS.waiting}`}
          {setting.changed_at !== null && (
            <>
              ; {TEXTS.changed.toLowerCase()} <Ago at={setting.changed_at} /> {TEXTS.by}{' '}
              {setting.changed_by}
            </>
          )}
        </p>
      </div>
      <div className="fs-form">
        <Editor setting={setting} value={value} onChange={setValue} />
        <Failure text={send.failure} />
        {may('settings:write') && (isChanged || isOwn) && (
          <div className="fs-toolbar">
            {isChanged && (
              <Button loading={send.isBusy} onClick={() => send.run()}>
                {TEXTS.save}
              </Button>
            )}
            {isOwn && (
              <Button
                variant="default"
                loading={send.isBusy}
                onClick={() => send.run({ reset: 'yes' })}
              >
                {TEXTS.toDefault}
              </Button>
            )}
          </div>
        )}
      </div>
    </section>
  );
}

function Editor({
  setting,
  value,
  onChange,
}: {
  readonly setting: Setting;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const schema = setting.schema as Schema;
  const may = useMay();
  const shared = {
    size: 'xs',
    'aria-label': setting.name,
    disabled: !may('settings:write'),
  } as const;
  if (schema.enum !== undefined) {
    return (
      <Select
        {...shared}
        allowDeselect={false}
        data={[...schema.enum]}
        value={String(value)}
        onChange={onChange}
      />
    );
  }
  if (schema.type === 'boolean') {
    return (
      <Switch
        {...shared}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    return (
      <NumberInput
        {...shared}
        value={Number(value)}
        {...(schema.minimum === undefined ? {} : { min: schema.minimum })}
        {...(schema.maximum === undefined ? {} : { max: schema.maximum })}
        clampBehavior="none"
        onChange={(next) => onChange(typeof next === 'number' ? next : Number(next))}
      />
    );
  }
  if (schema.type === 'array') {
    const list = value as string[];
    const choices = schema.items?.enum;
    return choices === undefined ? (
      <TagsInput {...shared} value={list} onChange={onChange} />
    ) : (
      <MultiSelect {...shared} data={[...choices]} value={list} onChange={onChange} />
    );
  }
  return (
    <TextInput
      {...shared}
      value={String(value ?? '')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ');
  return value === '' || value === null ? '–' : String(value);
}
