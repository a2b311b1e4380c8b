// Enrolling a node: where it runs, the token made at the last step, the command with the CA's fingerprint in it, and then,
// live, the moment at which the sensor is there.
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { IssuedToken } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { PageFrame } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Nothing } from '../design/states.tsx';
import { Countdown, useNow } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { commandsOf, type Target } from './commands.ts';
import { DEPLOY_TEXTS as TEXTS } from './texts.ts';

/** What the topic told within a second of the last look is seen at the next. */
const LOOK_AGAIN_MS = 3_000;

export function DeployPage() {
  const may = useMay();
  return (
    <PageFrame title={TEXTS.title} about={TEXTS.about} narrow>
      {may('tokens:write') ? <Wizard /> : <Nothing title={TEXTS.noRole} />}
    </PageFrame>
  );
}

/** The steps; the overview of an empty fleet shows them too. */
export function Wizard() {
  const [target, setTarget] = useState<Target>('checkout');
  const [issued, setIssued] = useState<IssuedToken | null>(null);
  const { isBusy, failure, submit } = useForm(async ({ note = '' }) => {
    setIssued(await call('POST /enrollment-tokens', { body: { note } }));
  });
  return (
    <div className="fs-form">
      <div>
        <div className="fs-label" id="deploy-target">
          {TEXTS.target}
        </div>
        <SegmentedControl
          size="xs"
          aria-labelledby="deploy-target"
          value={target}
          onChange={(value) => setTarget(value as Target)}
          data={Object.entries(TEXTS.targets).map(([value, label]) => ({ value, label }))}
        />
      </div>
      <form onSubmit={submit} className="fs-form">
        <TextInput name="note" label={TEXTS.note} maxLength={256} />
        <Failure text={failure} />
        <Button type="submit" loading={isBusy} variant={issued === null ? 'filled' : 'default'}>
          {issued === null ? TEXTS.make : TEXTS.again}
        </Button>
      </form>
      {issued !== null && <Issued key={issued.token_id} issued={issued} target={target} />}
    </div>
  );
}

function Issued({ issued, target }: { readonly issued: IssuedToken; readonly target: Target }) {
  const untilMs = Date.parse(issued.expires_at);
  const isOver = useNow() >= untilMs;
  return (
    <div className="fs-form">
      <div>
        <div className="fs-label">{TEXTS.token}</div>
        <CodeLine value={issued.secret} label={TEXTS.token} />
        <div className="fs-meta">
          {isOver ? (
            TEXTS.ended
          ) : (
            <>
              {TEXTS.endsIn} <Countdown untilMs={untilMs} />
            </>
          )}
        </div>
      </div>
      {commandsOf(issued.enroll_command, target).map(({ about, line }) => (
        <div key={line}>
          <div className="fs-label">{about}</div>
          <CodeLine value={line} label={TEXTS.command} />
        </div>
      ))}
      <p className="fs-meta">{TEXTS.fingerprint}</p>
      <Connected sinceMs={Date.parse(issued.created_at)} tokenId={issued.token_id} />
    </div>
  );
}

/** Looks for the sensor that was enrolled since; the fleet's topic says when to look. */
function Connected({ sinceMs, tokenId }: { readonly sinceMs: number; readonly tokenId: string }) {
  const newest = useApi(
    'GET /sensors',
    { query: { sort: '-enrolled_at', limit: 1 } },
    { refetchInterval: LOOK_AGAIN_MS },
  );
  const lookedAt = useRef(0);
  useTopic({ topic: 'fleet' }, () => {
    if (Date.now() - lookedAt.current < 1_000) return;
    lookedAt.current = Date.now();
    void newest.refetch();
  });
  const sensor = newest.data?.items.find((one) => Date.parse(one.enrolled_at) >= sinceMs);
  const isThere = sensor !== undefined && sensor.last_heartbeat_at !== null;
  return (
    <p role="status" data-token={tokenId}>
      {isThere ? (
        <>
          <Mark tone="good">{TEXTS.connected(sensor.node_name)}</Mark>{' '}
          <Link to="/sensors/$id/overview" params={{ id: sensor.sensor_id }}>
            {TEXTS.show}
          </Link>
        </>
      ) : (
        <Mark tone="soon">{TEXTS.waiting}</Mark>
      )}
    </p>
  );
}
