// Sensors that do not have what they are to have, and what they say of it. decision: D126
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import type { Drift } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { shortId } from '../design/numbers.ts';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { POLICY_TEXTS as TEXTS } from './texts.ts';
import { policyTone } from './words.ts';

const SHOWN = 200;

export function DriftTab() {
  const drift = useApi('GET /policies/drift', { query: { limit: SHOWN } });
  useTopic({ topic: 'fleet' }, () => void drift.refetch());
  return (
    <Answered of={drift}>
      {({ items }) =>
        items.length === 0 ? (
          <Nothing title={TEXTS.noDrift}>{TEXTS.noDriftHint}</Nothing>
        ) : (
          <DataTable
            label={TEXTS.drift}
            columns={COLUMNS}
            rows={items}
            rowKey={(one) => one.sensor_id}
          />
        )
      }
    </Answered>
  );
}

const COLUMNS: readonly Column<Drift>[] = [
  {
    ...{ id: 'sensor', title: TEXTS.sensor, width: 200 },
    cell: (one) => (
      <Link to="/sensors/$id/policies" params={{ id: one.sensor_id }} title={one.sensor_id}>
        <bdi>{one.node_name ?? shortId(one.sensor_id)}</bdi>
      </Link>
    ),
  },
  {
    ...{ id: 'state', title: TEXTS.state, width: 110 },
    cell: (one) => <Mark tone={policyTone(one.state)}>{TEXTS.driftStates[one.state]}</Mark>,
  },
  {
    ...{ id: 'wanted', title: TEXTS.wanted, width: 220 },
    cell: ({ wanted }) =>
      wanted === null ? (
        TEXTS.nothing
      ) : (
        <bdi>{`${wanted.pack_name} ${wanted.version} (${wanted.mode})`}</bdi>
      ),
  },
  {
    ...{ id: 'force', title: TEXTS.inForce, width: 90, isNumber: true },
    cell: (one) => one.in_force?.version ?? TEXTS.none,
  },
  {
    ...{ id: 'reason', title: TEXTS.reason, width: 280, grows: true },
    cell: ({ code, reason }) => (
      <bdi>{[code, reason].filter((one) => one !== null).join(': ')}</bdi>
    ),
  },
];
