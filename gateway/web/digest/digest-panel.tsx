// One daily digest: where it goes, what became of its days, how it looks.
import { Button, Drawer, Modal } from '@mantine/core';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { Digest, DigestRun } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, Panel } from '../design/page.tsx';
import { Removal } from '../design/removal.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { DigestForm } from './digest-form.tsx';
import { DigestPreview } from './digest-preview.tsx';
import { DIGEST_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 60;
const TONES: Readonly<Record<string, Tone>> = {
  ...{ sending: 'soon', waiting: 'warn', sent: 'good', failed: 'bad', unsure: 'warn' },
  missed: 'bad',
};
type Props = {
  readonly digest: Digest;
  readonly mayWrite: boolean;
  readonly onChange: () => void;
};

export function DigestPanel(props: Props) {
  const { digest, mayWrite } = props;
  const { last, mail, webhook } = digest;
  const [shown, setShown] = useState<'preview' | 'runs' | null>(null);
  return (
    <Panel title={digest.name}>
      <div className="fs-form">
        <Facts
          facts={[
            [
              TEXTS.state,
              <Mark key="on" tone={digest.is_on ? 'good' : 'stale'}>
                {digest.is_on ? TEXTS.on : TEXTS.off}
              </Mark>,
            ],
            [TEXTS.when, `${digest.at}, ${digest.time_zone}`],
            [TEXTS.to, mail === null ? (webhook?.target_url ?? '') : mail.recipients.join(', ')],
            [
              TEXTS.last,
              last === null ? (
                TEXTS.noRuns
              ) : (
                <Mark key="last" tone={TONES[last.state] ?? 'stale'}>
                  {`${last.day} ${last.state}`}
                </Mark>
              ),
            ],
            ...(last?.reason ? [[TEXTS.reason, last.reason] as const] : []),
          ]}
        />
        <div className="fs-toolbar">
          <Button variant="default" onClick={() => setShown('preview')}>
            {TEXTS.preview}
          </Button>
          <Button variant="default" onClick={() => setShown('runs')}>
            {TEXTS.runs}
          </Button>
        </div>
        {mayWrite && <Acts {...props} />}
      </div>
      <Drawer
        opened={shown !== null}
        onClose={() => setShown(null)}
        position="right"
        size="xl"
        title={shown === 'runs' ? TEXTS.runs : TEXTS.preview}
      >
        {shown === 'preview' && <DigestPreview id={digest.digest_id} />}
        {shown === 'runs' && <Runs id={digest.digest_id} />}
      </Drawer>
    </Panel>
  );
}

function Acts({ digest, onChange }: Props) {
  const params = { id: digest.digest_id };
  const [said, setSaid] = useState<string | null>(null);
  const [opened, setOpened] = useState<'change' | 'remove' | null>(null);
  const test = useForm(async () => {
    setSaid((await call('POST /digests/:id/test', { params })).detail);
  });
  return (
    <>
      {said !== null && <p role="status">{said}</p>}
      <Failure text={test.failure} />
      <div className="fs-toolbar">
        <Button variant="default" loading={test.isBusy} onClick={() => test.run()}>
          {TEXTS.test}
        </Button>
        <Button variant="default" onClick={() => setOpened('change')}>
          {TEXTS.change}
        </Button>
        <Button color="red" variant="outline" onClick={() => setOpened('remove')}>
          {TEXTS.remove}
        </Button>
      </div>
      <Modal opened={opened === 'change'} onClose={() => setOpened(null)} title={TEXTS.title}>
        <DigestForm
          digest={digest}
          onDone={() => {
            setOpened(null);
            onChange();
          }}
        />
      </Modal>
      <Modal opened={opened === 'remove'} onClose={() => setOpened(null)} title={TEXTS.remove}>
        <Removal
          {...{ nameLabel: TEXTS.name, removeLabel: TEXTS.remove, onDone: onChange }}
          name={digest.name}
          hint={TEXTS.removeHint(digest.name)}
          remove={() => call('DELETE /digests/:id', { params })}
        />
      </Modal>
    </>
  );
}

function Runs({ id }: { readonly id: string }) {
  const runs = useApi('GET /digests/:id/runs', { params: { id }, query: { limit: SHOWN } });
  return (
    <Answered of={runs}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="fs-quiet">{TEXTS.noRuns}</p>
        ) : (
          <DataTable label={TEXTS.runs} columns={COLUMNS} rows={items} rowKey={(row) => row.day} />
        )
      }
    </Answered>
  );
}

const COLUMNS: readonly Column<DigestRun>[] = [
  { id: 'day', title: TEXTS.day, width: 110, cell: (row) => row.day },
  {
    ...{ id: 'state', title: TEXTS.state, width: 100 },
    cell: (row) => <Mark tone={TONES[row.state] ?? 'stale'}>{row.state}</Mark>,
  },
  {
    ...{ id: 'attempts', title: TEXTS.attempts, width: 90, isNumber: true },
    cell: (row) => String(row.attempts),
  },
  {
    ...{ id: 'ended', title: TEXTS.ended, width: 150 },
    cell: (row) => (row.ended_at === null ? '' : <At at={row.ended_at} />),
  },
  {
    ...{ id: 'reason', title: TEXTS.reason, width: 220, grows: true },
    cell: (row) => row.reason ?? '',
  },
];
