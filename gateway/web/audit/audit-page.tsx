// The audit trail: searched here, exported whole, and verified in this browser by the very rules that sealed it.
import { Button, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { addressOf } from '../api/client.ts';
import { Download } from '../design/download.tsx';
import { PageFrame } from '../design/page.tsx';
import { AuditTable } from './audit-table.tsx';
import { AUDIT_TEXTS as TEXTS } from './texts.ts';
import { VerifyPanel } from './verify-panel.tsx';

const route = getRouteApi('/shell/audit');
const TYPING_MS = 300;
const FIELDS = ['actor', 'action', 'target', 'result'] as const;

export function AuditPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(search);
  const change = useDebouncedCallback((next: typeof search) => {
    void navigate({ to: '/audit', search: next });
  }, TYPING_MS);
  const address = addressOf('GET /audit', { query: search });
  return (
    <PageFrame
      title={TEXTS.title}
      action={
        <div className="fs-toolbar">
          <Download address={address} format="csv" label={TEXTS.csv} name="audit" />
          <Download address={address} format="ndjson" label={TEXTS.ndjson} name="audit" />
        </div>
      }
    >
      <VerifyPanel />
      <search className="fs-toolbar">
        <Select
          size="xs"
          w={140}
          aria-label={TEXTS.range}
          allowDeselect={false}
          data={Object.entries(TEXTS.ranges).map(([value, label]) => ({ value, label }))}
          value={search.from ?? 'all'}
          onChange={(from) => {
            const { from: _before, ...others } = search;
            change(from === null || from === 'all' ? others : { ...others, from });
          }}
        />
        {FIELDS.map((name) => (
          <TextInput
            key={name}
            size="xs"
            w={170}
            placeholder={TEXTS[name]}
            aria-label={TEXTS[name]}
            value={typed[name] ?? ''}
            onChange={({ currentTarget: { value } }) => {
              const { [name]: _before, ...others } = typed;
              const next = value === '' ? others : { ...others, [name]: value };
              setTyped(next);
              change(next);
            }}
          />
        ))}
        {Object.keys(search).length > 0 && (
          <Button
            variant="subtle"
            onClick={() => {
              setTyped({});
              change({});
            }}
          >
            {TEXTS.clear}
          </Button>
        )}
      </search>
      <AuditTable filter={search} empty={TEXTS.noMatch} />
    </PageFrame>
  );
}
