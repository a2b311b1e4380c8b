// One rule as its author sees it: the text, what it would have found on stored events while it is being written, and its
// versions.
import { Button, Textarea } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { AlertRule, AlertRuleWithVersions, Backtest } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Histogram } from '../design/histogram.tsx';
import { Facts, PageFrame, Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { At } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { RuleState } from './rules-page.tsx';
import { ALERT_TEXTS as TEXTS } from './texts.ts';

type Spec = AlertRule['spec'];
const FIRST: Spec = {
  rule_name: 'New rule',
  severity: 'medium',
  detect: { kind: 'match', condition: 'event_kind:process_exec and process.binary:/tmp/*' },
};
const route = getRouteApi('/shell/alert-rules/$ruleId');

export function RulePage() {
  const { ruleId } = route.useParams();
  return ruleId === 'new' ? <Editor known={null} /> : <Known ruleId={ruleId} />;
}

function Known({ ruleId }: { readonly ruleId: string }) {
  const one = useApi('GET /alert-rules/:id', { params: { id: ruleId } });
  return <Answered of={one}>{(known) => <Editor known={known} />}</Answered>;
}

function Editor({ known }: { readonly known: AlertRuleWithVersions | null }) {
  const navigate = useNavigate();
  const [text, setText] = useState(JSON.stringify(known?.rule.spec ?? FIRST, null, 2));
  const [result, setResult] = useState<Backtest | null>(null);
  const may = useMay();
  const rule = known?.rule;
  const form = useForm(async ({ act }) => {
    const spec = specIn(text);
    if (act === 'try') {
      setResult(await call('POST /alert-rules/backtest', { body: { spec } }));
      return;
    }
    if (rule === undefined) await call('POST /alert-rules', { body: { spec } });
    else {
      const { rule_id: id, version } = rule;
      await call('PUT /alert-rules/:id', { params: { id }, body: { spec, version } });
    }
    await navigate({ to: '/alert-rules' });
  });
  const remove = useForm(async () => {
    await call('DELETE /alert-rules/:id', { params: { id: rule?.rule_id ?? '' } });
    await navigate({ to: '/alert-rules' });
  });
  const mayWrite = may('alert-rules:write');
  return (
    <PageFrame
      title={rule?.spec.rule_name ?? TEXTS.newRule}
      about={<Link to="/alert-rules">{TEXTS.rules}</Link>}
    >
      <Panel>
        {rule !== undefined && <RuleState rule={rule} />}
        {rule?.pause !== null && rule?.pause !== undefined && <p>{rule.pause.detail}</p>}
        <Textarea
          label={TEXTS.spec}
          classNames={{ input: 'fs-mono' }}
          spellCheck={false}
          autosize
          minRows={10}
          maxRows={30}
          value={text}
          readOnly={!mayWrite}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Failure text={form.failure ?? remove.failure} />
        <div className="fs-form-foot">
          <Button variant="default" loading={form.isBusy} onClick={() => form.run({ act: 'try' })}>
            {TEXTS.tryIt}
          </Button>
          {mayWrite && (
            <Button loading={form.isBusy} onClick={() => form.run({ act: 'save' })}>
              {TEXTS.save}
            </Button>
          )}
          {mayWrite && rule !== undefined && (
            <Button variant="default" color="red" onClick={() => remove.run()}>
              {TEXTS.remove}
            </Button>
          )}
        </div>
      </Panel>
      {result !== null && <Tried result={result} />}
      {known !== null && <Versions known={known} />}
    </PageFrame>
  );
}

function specIn(text: string): Spec {
  try {
    return JSON.parse(text) as Spec;
  } catch {
    throw new Error(TEXTS.notJson);
  }
}

function Tried({ result }: { readonly result: Backtest }) {
  const [first, second] = result.bars;
  const stepMs =
    first === undefined || second === undefined
      ? 1
      : Date.parse(second.from) - Date.parse(first.from);
  return (
    <Panel title={TEXTS.backtest}>
      <Facts
        facts={[
          [TEXTS.findings, result.findings],
          [TEXTS.alerts, result.alerts],
          [TEXTS.sensors, result.sensors.length],
          [TEXTS.judged, result.judged_events],
        ]}
      />
      {result.is_truncated && <p role="status">{TEXTS.truncated}</p>}
      <Histogram
        title={TEXTS.findings}
        stepMs={stepMs}
        bars={result.bars.map(({ from: at, findings: total }) => ({
          ...{ at, total },
          parts: total === 0 ? [] : [{ severity: 'medium' as const, events: total }],
        }))}
      />
      <h3>{TEXTS.samples}</h3>
      <ul className="fs-lines">
        {result.samples.map(({ event }) => (
          <li key={event.event_id}>
            <At at={event.observed_at} />
            <bdi className="fs-break">{event.message}</bdi>
            <bdi className="fs-meta">{event.node_name}</bdi>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Versions({ known }: { readonly known: AlertRuleWithVersions }) {
  return (
    <Panel title={TEXTS.versions}>
      <ol className="fs-lines">
        {known.versions.map((one) => (
          <li key={one.version}>
            {one.version} <At at={one.at} /> {one.actor}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
