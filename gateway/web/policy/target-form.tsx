// Which version goes to whom: the fields that an assignment and a rollout share.
import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { PolicyMode } from '../../../machines/wire/policy.ts';
import { POLICY_MODES } from '../../../machines/wire/words.ts';
import { useApi } from '../api/client.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 256;
const KINDS = ['fleet', 'group', 'tag', 'sensor'] as const;
type Kind = (typeof KINDS)[number];
export type Chosen = {
  readonly packId: string | null;
  readonly version: number | null;
  readonly mode: PolicyMode;
  readonly kind: Kind;
  readonly target: string;
};
export const NOTHING_CHOSEN: Chosen = {
  ...{ packId: null, version: null, mode: 'monitor', kind: 'fleet', target: '' },
};

/** The target and version as the API has them; null while something is missing. */
export function assignmentOf({ packId, version, mode, kind, target }: Chosen) {
  const id = kind === 'fleet' ? 'fleet' : target;
  if (packId === null || version === null || id === '') return null;
  return { target: { kind, id }, pack_id: packId, version, mode };
}

export function TargetFields({
  chosen,
  onChange,
}: {
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
}) {
  const packs = useApi('GET /packs', { query: { limit: SHOWN } });
  const published = (packs.data?.items ?? []).filter((one) => one.latest_version !== null);
  return (
    <>
      <Select
        label={TEXTS.pack}
        searchable
        required
        data={published.map((one) => ({ value: one.pack_id, label: one.name }))}
        value={chosen.packId}
        onChange={(packId) => {
          const found = published.find((one) => one.pack_id === packId);
          onChange({ ...chosen, packId, version: found?.latest_version ?? null });
        }}
      />
      {chosen.packId !== null && <VersionFields chosen={chosen} onChange={onChange} />}
      <Select
        label={TEXTS.target}
        allowDeselect={false}
        data={KINDS.map((kind) => ({ value: kind, label: TEXTS.targets[kind] }))}
        value={chosen.kind}
        onChange={(kind) => onChange({ ...chosen, kind: kind as Kind, target: '' })}
      />
      <WhichTarget chosen={chosen} onChange={onChange} />
    </>
  );
}

type Fields = { readonly chosen: Chosen; readonly onChange: (chosen: Chosen) => void };

function VersionFields({ chosen, onChange }: Fields) {
  const pack = useApi('GET /packs/:id', { params: { id: chosen.packId ?? '' } });
  const versions = pack.data?.versions ?? [];
  const signed = versions.find(({ manifest }) => manifest.version === chosen.version);
  const modes = signed?.manifest.modes_allowed ?? POLICY_MODES;
  return (
    <>
      <Select
        label={TEXTS.version}
        allowDeselect={false}
        data={versions.map(({ manifest }) => String(manifest.version))}
        value={String(chosen.version ?? '')}
        onChange={(version) => onChange({ ...chosen, version: Number(version) })}
      />
      <Select
        label={TEXTS.mode}
        allowDeselect={false}
        data={[...modes]}
        value={chosen.mode}
        onChange={(mode) => onChange({ ...chosen, mode: mode as PolicyMode })}
      />
    </>
  );
}

function WhichTarget({ chosen, onChange }: Fields) {
  const [text, setText] = useState('');
  const groups = useApi(
    'GET /groups',
    { query: { limit: SHOWN } },
    { enabled: chosen.kind === 'group' },
  );
  const sensors = useApi(
    'GET /sensors',
    { query: { limit: 50, ...(text === '' ? {} : { node_name: text }) } },
    { enabled: chosen.kind === 'sensor' },
  );
  if (chosen.kind === 'fleet') return null;
  if (chosen.kind === 'tag') {
    return (
      <TextInput
        label={TEXTS.targetId}
        required
        value={chosen.target}
        onChange={({ currentTarget }) => onChange({ ...chosen, target: currentTarget.value })}
      />
    );
  }
  const data =
    chosen.kind === 'group'
      ? (groups.data?.items ?? []).map((one) => ({ value: one.id, label: one.name }))
      : (sensors.data?.items ?? []).map((one) => ({ value: one.sensor_id, label: one.node_name }));
  return (
    <Select
      label={TEXTS.targetId}
      required
      searchable
      data={data}
      value={chosen.target}
      {...(chosen.kind === 'sensor' ? { onSearchChange: setText } : {})}
      onChange={(target) => onChange({ ...chosen, target: target ?? '' })}
    />
  );
}
