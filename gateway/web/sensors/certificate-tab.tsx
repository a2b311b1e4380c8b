// The certificate that a sensor is known by, and a token for a new one.
import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { IssuedToken } from '../api/contract.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { Ago, Countdown } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors/$id');

export function CertificateTab() {
  const { id } = route.useParams();
  const may = useMay();
  const sensor = useApi('GET /sensors/:id', { params: { id } });
  return (
    <Answered of={sensor}>
      {(data) => (
        <div className="fs-grid">
          <Panel title={TEXTS.certificate}>
            <Facts
              facts={[
                [TEXTS.trustState, data.trust_state ?? TEXTS.nothing],
                [TEXTS.expires, <Ago key="ends" at={data.certificate_expires_at} />],
                ...(data.revoked_at === null
                  ? []
                  : [
                      [TEXTS.revoked, <Ago key="revoked" at={data.revoked_at} />] as const,
                      [TEXTS.reason, data.revoked_reason] as const,
                    ]),
              ]}
            />
          </Panel>
          {may('sensors:write') && data.revoked_at === null && <NewCertificate id={id} />}
        </div>
      )}
    </Answered>
  );
}

function NewCertificate({ id }: { readonly id: string }) {
  const [issued, setIssued] = useState<IssuedToken | null>(null);
  const { isBusy, failure, submit } = useForm(async () => {
    setIssued(await call('POST /sensors/:id/reenroll', { params: { id }, body: {} }));
  });
  return (
    <Panel title={TEXTS.reenroll}>
      <form onSubmit={submit} className="fs-form">
        <p className="fs-quiet">{TEXTS.reenrollHint}</p>
        {issued !== null && (
          <>
            <CodeLine value={issued.secret} label={TEXTS.reenroll} />
            <CodeLine value={issued.enroll_command} label={TEXTS.reenroll} />
            <Countdown untilMs={Date.parse(issued.expires_at)} />
          </>
        )}
        <Failure text={failure} />
        <Button type="submit" variant="default" loading={isBusy}>
          {TEXTS.reenroll}
        </Button>
      </form>
    </Panel>
  );
}
