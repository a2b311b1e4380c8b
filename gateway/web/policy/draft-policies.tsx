// The policies of a draft, one at a time: its text, what the judge says of each, what each waits for and does.
import { Button, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { call } from '../api/client.ts';
import type { PackDraftAnswer, PolicyCheck } from '../api/contract.ts';
import { Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Nothing, RowsSkeleton } from '../design/states.tsx';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const YamlEditor = lazy(() =>
  import('./yaml-editor.tsx').then((module) => ({ default: module.YamlEditor })),
);
const JUDGED_AFTER_MS = 400;
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
type Policies = PackDraftAnswer['draft']['policies'];
const NO_REFUSALS: PolicyCheck['refusals'] = [];

export function DraftPolicies({
  policies,
  isReadOnly,
  onChange,
}: {
  readonly policies: Policies;
  readonly isReadOnly: boolean;
  readonly onChange: (policies: Policies) => void;
}) {
  const [chosen, setChosen] = useState<string | null>(null);
  const checks = useChecks(policies);
  const name = policies.some((one) => one.name === chosen) ? chosen : (policies[0]?.name ?? null);
  const shown = policies.find((one) => one.name === name);
  const check = checks.data?.items.find((one) => one.name === name);
  const refusals = useMemo(() => check?.refusals ?? NO_REFUSALS, [check]);
  const without = () => onChange(policies.filter((one) => one.name !== name));
  const add = !isReadOnly && (
    <AddPolicy
      taken={policies.map((one) => one.name)}
      onAdd={(added) => {
        onChange([...policies, added]);
        setChosen(added.name);
      }}
    />
  );
  return (
    <Panel title={TEXTS.policies}>
      {add}
      {shown === undefined ? (
        <Nothing title={TEXTS.noPolicies}>{TEXTS.noPoliciesHint}</Nothing>
      ) : (
        <>
          <div className="fs-toolbar">
            <Select
              label={TEXTS.policyName}
              w={280}
              searchable
              allowDeselect={false}
              data={policies.map((one) => one.name)}
              value={name}
              onChange={setChosen}
            />
            <Verdict check={check} />
            {!isReadOnly && (
              <Button variant="default" onClick={without}>
                {TEXTS.removePolicy}
              </Button>
            )}
          </div>
          <Suspense fallback={<RowsSkeleton />}>
            <YamlEditor
              key={shown.name}
              label={TEXTS.yaml(shown.name)}
              value={shown.yaml}
              refusals={refusals}
              isReadOnly={isReadOnly}
              onChange={(yaml) =>
                onChange(policies.map((one) => (one.name === name ? { ...one, yaml } : one)))
              }
            />
          </Suspense>
          <Said check={check} />
        </>
      )}
    </Panel>
  );
}

/** What the judge says, asked when nobody has typed for a while. */
function useChecks(policies: Policies) {
  const [judged] = useDebouncedValue(policies, JUDGED_AFTER_MS);
  return useQuery({
    queryKey: ['POST /packs/check', judged],
    queryFn: ({ signal }) => call('POST /packs/check', { body: { policies: judged } }, signal),
    enabled: judged.length > 0,
    placeholderData: keepPreviousData,
  });
}

function Verdict({ check }: { readonly check: PolicyCheck | undefined }) {
  if (check === undefined) return <span className="fs-quiet">{TEXTS.checking}</span>;
  if (!check.ok) return <Mark tone="bad">{TEXTS.wrong}</Mark>;
  return <Mark tone="good">{TEXTS.good(check.engines.join(', '))}</Mark>;
}

function Said({ check }: { readonly check: PolicyCheck | undefined }) {
  if (check === undefined) return null;
  return (
    <ul className="fs-policy-said">
      {check.refusals.map(({ line, column, reason }) => (
        <li key={`${line}:${column} ${reason}`}>
          <span className="fs-mono">{`${line}:${column}`}</span> {reason}
        </li>
      ))}
      {check.hooks.map((hook) => (
        <li key={`${hook.kind} ${hook.event}`}>
          {TEXTS.waitsFor} <span className="fs-mono">{hook.event}</span>,{' '}
          {hook.acts.join(', ') || TEXTS.onlyTells}
          {hook.needs !== null && ` (${hook.needs})`}
        </li>
      ))}
    </ul>
  );
}

function AddPolicy({
  taken,
  onAdd,
}: {
  readonly taken: readonly string[];
  readonly onAdd: (policy: Policies[number]) => void;
}) {
  const [name, setName] = useState('');
  const isGood = NAME.test(name) && !taken.includes(name);
  return (
    <form
      className="fs-toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isGood) return;
        onAdd({ name, yaml: newPolicy(name) });
        setName('');
      }}
    >
      <TextInput
        aria-label={TEXTS.policyName}
        placeholder="read-shadow"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={!isGood}>
        {TEXTS.addPolicy}
      </Button>
    </form>
  );
}

/** What every engine of this product honours, to begin with. */
function newPolicy(name: string): string {
  return `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata:
  name: ${name}
spec:
  kprobes:
    - call: sys_openat
      syscall: true
      args:
        - { index: 1, type: string }
      selectors:
        - matchArgs:
            - { index: 1, operator: Equal, values: [/etc/shadow] }
`;
}
