// Alert rules: which run, what they cost, and how many of their alerts are live.
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import type { AlertRule } from '../api/contract.ts';
import { LinkButton } from '../design/link-button.tsx';
import { PageFrame } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { ALERT_TEXTS as TEXTS } from './texts.ts';

const NS_PER_US = 1_000;

export function RulesPage() {
  const rules = useApi('GET /alert-rules', {});
  const mayWrite = useMay()('alert-rules:write');
  const add = mayWrite && (
    <LinkButton to="/alert-rules/$ruleId" params={{ ruleId: 'new' }}>
      {TEXTS.newRule}
    </LinkButton>
  );
  return (
    <PageFrame title={TEXTS.rules} about={TEXTS.rulesAbout} action={add}>
      <Answered of={rules}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noRules}>{TEXTS.noRulesHint}</Nothing>
          ) : (
            <DataTable
              label={TEXTS.rules}
              columns={COLUMNS}
              rows={items}
              rowKey={(row) => row.rule_id}
            />
          )
        }
      </Answered>
    </PageFrame>
  );
}

const COLUMNS: readonly Column<AlertRule>[] = [
  {
    ...{ id: 'name', title: TEXTS.name, width: 320, grows: true },
    cell: (row) => (
      <Link to="/alert-rules/$ruleId" params={{ ruleId: row.rule_id }}>
        {row.spec.rule_name}
      </Link>
    ),
  },
  {
    ...{ id: 'severity', title: TEXTS.severity, width: 110 },
    cell: (row) => <SeverityMark severity={row.spec.severity} />,
  },
  { id: 'kind', title: TEXTS.kind, width: 100, cell: (row) => row.spec.detect.kind },
  { id: 'state', title: TEXTS.running, width: 170, cell: (row) => <RuleState rule={row} /> },
  {
    ...{ id: 'live', title: TEXTS.liveAlerts, width: 100, isNumber: true },
    cell: (row) => row.live_alerts,
  },
  {
    ...{ id: 'cost', title: TEXTS.cost, width: 150, isNumber: true },
    cell: (row) =>
      row.cost === null ? '–' : `${(row.cost.ns_per_event / NS_PER_US).toFixed(2)} µs`,
  },
  {
    ...{ id: 'changed', title: TEXTS.changed, width: 140 },
    cell: (row) => <Ago at={row.changed_at} />,
  },
];

export function RuleState({ rule }: { readonly rule: AlertRule }) {
  if (rule.pause !== null) {
    return <Mark tone="bad">{`${TEXTS.paused}: ${rule.pause.reason}`}</Mark>;
  }
  const isOff = rule.spec.enabled === false;
  return <Mark tone={isOff ? 'stale' : 'good'}>{isOff ? TEXTS.off : TEXTS.on}</Mark>;
}
