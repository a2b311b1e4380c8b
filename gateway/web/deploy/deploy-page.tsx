// Enrolling a node: its flavor, where it runs, what it will belong to, the token made at the last step, the command with
// the CA's fingerprint in it, and then, live, the moment at which the sensor is there.
import { Button, Select, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import { call, useApi } from '../api/client.ts';
import type { IssuedToken } from '../api/contract.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { PageFrame } from '../design/page.tsx';
import { Nothing } from '../design/states.tsx';
import { Countdown, useNow } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { commandsOf, flavorOf, type Target } from './commands.ts';
import { Connected, type Labels } from './connected.tsx';
import { DEPLOY_TEXTS as TEXTS } from './texts.ts';

const GROUPS_SHOWN = 500;
const TAGS_MAX = 32;
const NO_LABELS: Labels = { groupId: null, tags: [] };

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
  const may = useMay();
  const [target, setTarget] = useState<Target>('linux');
  const [flavor, setFlavor] = useState<Flavor | null>(null);
  const [labels, setLabels] = useState(NO_LABELS);
  const [issued, setIssued] = useState<IssuedToken | null>(null);
  const { isBusy, failure, submit } = useForm(async ({ note = '' }) => {
    setIssued(await call('POST /enrollment-tokens', { body: { note } }));
  });
  return (
    <div className="fs-form">
      <Choice
        label={TEXTS.target}
        about={TEXTS.targetAbout[target]}
        names={TEXTS.targets}
        value={target}
        onChange={setTarget}
      />
      <Choice
        label={TEXTS.flavor}
        about={TEXTS.flavorAbout}
        names={TEXTS.flavors}
        value={flavor ?? 'console'}
        onChange={(value) => setFlavor(value === 'console' ? null : value)}
      />
      {may('sensors:write') && <LabelFields labels={labels} onChange={setLabels} />}
      <form onSubmit={submit} className="fs-form">
        <TextInput name="note" label={TEXTS.note} maxLength={256} />
        <Failure text={failure} />
        <Button type="submit" loading={isBusy} variant={issued === null ? 'filled' : 'default'}>
          {issued === null ? TEXTS.make : TEXTS.again}
        </Button>
      </form>
      {issued !== null && <Issued key={issued.token_id} {...{ issued, target, flavor, labels }} />}
    </div>
  );
}

function Choice<Name extends string>({
  label,
  about,
  names,
  value,
  onChange,
}: {
  readonly label: string;
  readonly about: string;
  readonly names: Readonly<Record<Name, string>>;
  readonly value: Name;
  readonly onChange: (value: Name) => void;
}) {
  return (
    <Select
      label={label}
      description={about}
      inputWrapperOrder={['label', 'input', 'description']}
      allowDeselect={false}
      data={Object.entries<string>(names).map(([name, text]) => ({ value: name, label: text }))}
      value={value}
      onChange={(next) => next !== null && onChange(next as Name)}
    />
  );
}

function LabelFields({
  labels,
  onChange,
}: {
  readonly labels: Labels;
  readonly onChange: (labels: Labels) => void;
}) {
  const may = useMay();
  const groups = useApi(
    'GET /groups',
    { query: { limit: GROUPS_SHOWN } },
    { enabled: may('groups:read') },
  );
  return (
    <>
      <Select
        clearable
        searchable
        label={TEXTS.group}
        data={(groups.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={labels.groupId}
        onChange={(groupId) => onChange({ ...labels, groupId })}
      />
      <TagsInput
        label={TEXTS.tags}
        description={TEXTS.tagsAbout}
        inputWrapperOrder={['label', 'input', 'description']}
        maxTags={TAGS_MAX}
        value={[...labels.tags]}
        onChange={(tags) => onChange({ ...labels, tags })}
      />
    </>
  );
}

function Issued({
  issued,
  target,
  flavor,
  labels,
}: {
  readonly issued: IssuedToken;
  readonly target: Target;
  readonly flavor: Flavor | null;
  readonly labels: Labels;
}) {
  const command = issued.enroll_command;
  const chosen = { target, flavor: flavor ?? flavorOf(command) };
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
      {commandsOf(command, chosen).map(({ about, line }) => (
        <div key={line}>
          <div className="fs-label">{about}</div>
          <CodeLine value={line} label={TEXTS.command} />
        </div>
      ))}
      <p className="fs-meta">{TEXTS.fingerprint}</p>
      <Connected tokenId={issued.token_id} labels={labels} />
    </div>
  );
}
