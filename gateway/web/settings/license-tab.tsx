// The license in force, its way through time, and the import of another one, which is verified offline.
import { Button, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { asking, call, useApi } from '../api/client.ts';
import type { BodyOf, License } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact } from '../design/numbers.ts';
import { Facts, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { absolute } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

const TONES = { info: 'soon', warning: 'warn', critical: 'bad' } as const;

export function LicenseTab() {
  const license = useApi('GET /license', {});
  const may = useMay();
  return (
    <Answered of={license}>
      {(data) => (
        <div className="fs-grid">
          <Now license={data} />
          <Timeline license={data} />
          {may('license:write') && <Import />}
        </div>
      )}
    </Answered>
  );
}

function Now({ license: { phase, license, enrollment, banners } }: { readonly license: License }) {
  const allowed = enrollment.nodes_allowed;
  return (
    <Panel title={TEXTS.license}>
      <Facts
        facts={[
          [TEXTS.phase, phase],
          [
            TEXTS.nodes,
            `${exact(enrollment.protected_nodes)} / ${allowed === null ? TEXTS.noLimit : exact(allowed)}`,
          ],
          ...(license === null
            ? []
            : ([
                [TEXTS.plan, license.plan],
                [TEXTS.validUntil, absolute(license.valid_until)],
                [TEXTS.graceUntil, absolute(license.grace_until)],
              ] as const)),
        ]}
      />
      {banners.map((banner) => (
        <p key={banner.reason} className="fs-mark fs-wrap">
          <Mark tone={TONES[banner.level]}>{banner.level}</Mark> {banner.text}
        </p>
      ))}
    </Panel>
  );
}

function Timeline({ license: { timeline } }: { readonly license: License }) {
  return (
    <Panel title={TEXTS.timeline}>
      <Facts
        facts={timeline.map(({ phase, from, until, is_current: isNow }) => [
          isNow ? `${phase} (${TEXTS.now})` : phase,
          `${from === null ? '' : absolute(from)} – ${until === null ? '' : absolute(until)}`,
        ])}
      />
    </Panel>
  );
}

function Import() {
  const cache = useQueryClient();
  const { isBusy, failure, submit } = useForm(async ({ envelope = '' }) => {
    const body = JSON.parse(envelope) as BodyOf<'POST /license'>;
    cache.setQueryData(asking('GET /license', {}).queryKey, await call('POST /license', { body }));
  });
  return (
    <Panel title={TEXTS.import}>
      <form onSubmit={submit} className="fs-form">
        <Textarea
          name="envelope"
          label={TEXTS.envelope}
          minRows={6}
          autosize
          maxRows={14}
          required
          classNames={{ input: 'fs-mono' }}
        />
        <Failure text={failure} />
        <Button type="submit" loading={isBusy}>
          {TEXTS.import}
        </Button>
      </form>
    </Panel>
  );
}
