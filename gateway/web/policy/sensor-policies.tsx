// What one sensor has of policies: which pack counts and why, what was passed over, the switch, and what the node says.
import { Alert, Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { EnforcementMode } from '../../../machines/wire/policy.ts';
import { ENFORCEMENT_MODES } from '../../../machines/wire/words.ts';
import { call, useApi } from '../api/client.ts';
import type { SensorPolicy } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact } from '../design/numbers.ts';
import { type Fact, Facts, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';
import { policyTone, stateWord } from './words.ts';

const route = getRouteApi('/shell/sensors/$id/policies');
type Chosen = NonNullable<SensorPolicy['pack']>;
type Reported = NonNullable<SensorPolicy['reported']>;

export function SensorPolicies() {
  const { id } = route.useParams();
  const policy = useApi('GET /sensors/:id/policy', { params: { id } });
  useTopic({ topic: 'sensor', id }, () => void policy.refetch());
  return (
    <Answered of={policy}>
      {(data) => (
        <>
          <div className="fs-grid">
            <Panel title={TEXTS.effective}>
              {data.pack === null ? (
                <p className="fs-quiet">{TEXTS.noPack}</p>
              ) : (
                <Facts
                  facts={[
                    [TEXTS.pack, <PackLink key="p" of={data.pack} />],
                    [TEXTS.because, data.pack.because],
                    [TEXTS.mode, data.pack.mode],
                  ]}
                />
              )}
              {data.passed_over.length > 0 && (
                <>
                  <h3>{TEXTS.passedOver}</h3>
                  <ul>
                    {data.passed_over.map((one) => (
                      <li key={one.assignment_id}>
                        <PackLink of={one} />: {one.because}
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </Panel>
            <Switch id={id} of={data} onDone={() => void policy.refetch()} />
          </div>
          <Said reported={data.reported} />
        </>
      )}
    </Answered>
  );
}

function PackLink({ of }: { readonly of: Chosen }) {
  return (
    <Link to="/policies/packs/$id" params={{ id: of.pack_id }}>
      <bdi>{`${of.pack_name} ${of.version}`}</bdi>
    </Link>
  );
}

function Switch({
  id,
  of,
  onDone,
}: {
  readonly id: string;
  readonly of: SensorPolicy;
  readonly onDone: () => void;
}) {
  const may = useMay();
  const { failure, run } = useForm(async ({ mode = '' }) => {
    await call('PUT /sensors/:id/policy/enforcement', {
      params: { id },
      body: { mode: mode as EnforcementMode },
    });
    onDone();
  });
  return (
    <Panel title={TEXTS.switch}>
      <Select
        aria-label={TEXTS.switch}
        w={180}
        allowDeselect={false}
        readOnly={!may('assignments:write')}
        data={ENFORCEMENT_MODES.map((value) => ({ value, label: TEXTS.switchModes[value] }))}
        value={of.enforcement.mode}
        onChange={(mode) => run({ mode: mode ?? '' })}
      />
      <Failure text={failure} />
      {of.custom.policies.length > 0 && (
        <>
          <h3>{TEXTS.own}</h3>
          <ul>
            {of.custom.policies.map((one) => (
              <li key={one.name} className="fs-mono">
                {one.name}
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function Said({ reported }: { readonly reported: Reported | null }) {
  if (reported === null) {
    return (
      <Panel title={TEXTS.reported}>
        <p className="fs-quiet">{TEXTS.neverSaid}</p>
      </Panel>
    );
  }
  const why = [reported.code, reported.reason].filter((one) => one !== undefined).join(': ');
  const facts: readonly Fact[] = [
    [
      TEXTS.state,
      <Mark key="s" tone={policyTone(reported.state)}>
        {stateWord(reported.state)}
      </Mark>,
    ],
    [TEXTS.inForce, reported.in_force?.version ?? TEXTS.none],
  ];
  return (
    <Panel title={TEXTS.reported}>
      {why !== '' && (
        <Alert color="red" variant="light">
          <bdi>{why}</bdi>
        </Alert>
      )}
      <Facts facts={facts} />
      {reported.policies.length > 0 && (
        <DataTable
          label={TEXTS.policies}
          columns={POLICIES}
          rows={reported.policies}
          rowKey={(one) => one.name}
        />
      )}
    </Panel>
  );
}

const POLICIES: readonly Column<Reported['policies'][number]>[] = [
  {
    ...{ id: 'name', title: TEXTS.policyName, width: 220 },
    cell: (one) => <span className="fs-mono">{one.name}</span>,
  },
  {
    ...{ id: 'state', title: TEXTS.state, width: 120 },
    cell: (one) => <Mark tone={policyTone(one.state)}>{stateWord(one.state)}</Mark>,
  },
  {
    ...{ id: 'acted', title: TEXTS.acted, width: 80, isNumber: true },
    cell: (one) => exact(one.acted ?? 0),
  },
  {
    ...{ id: 'would', title: TEXTS.wouldHaveActed, width: 130, isNumber: true },
    cell: (one) => exact(one.would_have_acted ?? 0),
  },
  {
    ...{ id: 'reason', title: TEXTS.reason, width: 240, grows: true },
    cell: (one) => <bdi>{one.reason ?? one.code ?? ''}</bdi>,
  },
];
