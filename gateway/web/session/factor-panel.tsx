// The second factor of one's own account: how it stands, on, off, and fresh recovery codes.
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { SecondFactor } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { EnrolFactor, RecoveryCodes } from './enrol-factor.tsx';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

type AuditContext = 'nothing' | 'on' | 'off' | 'codes';

export function FactorPanel({ needsPassword }: { readonly needsPassword: boolean }) {
  const factor = useApi('GET /auth/mfa', {});
  const cache = useQueryClient();
  const [doing, setDoing] = useState<AuditContext>('nothing');
  const finish = async () => {
    setDoing('nothing');
    await cache.invalidateQueries();
  };
  return (
    <Panel title={TEXTS.factor}>
      <Answered of={factor} rows={3}>
        {(data) => (
          <div className="fs-form">
            <FactorFacts factor={data} />
            {doing === 'nothing' && <Choices factor={data} onChoose={setDoing} />}
            {doing === 'on' && (
              <EnrolFactor hint={TEXTS.enrolOwn} needsPassword={needsPassword} onDone={finish} />
            )}
            {doing === 'off' && <TurnOff needsPassword={needsPassword} onDone={finish} />}
            {doing === 'codes' && <NewCodes onDone={finish} />}
          </div>
        )}
      </Answered>
    </Panel>
  );
}

function FactorFacts({ factor }: { readonly factor: SecondFactor }) {
  const isOn = factor.state === 'on';
  return (
    <>
      <Facts
        facts={[
          [
            TEXTS.status,
            <Mark key="state" tone={isOn ? 'good' : 'stale'}>
              {TEXTS.factorStates[factor.state]}
            </Mark>,
          ],
          ...(isOn ? [[TEXTS.codesLeft, factor.recovery_codes_left] as const] : []),
        ]}
      />
      {factor.required && <p className="fs-quiet">{TEXTS.needed}</p>}
    </>
  );
}

function Choices({
  factor,
  onChoose,
}: {
  readonly factor: SecondFactor;
  readonly onChoose: (doing: AuditContext) => void;
}) {
  if (factor.state !== 'on') {
    return <Button onClick={() => onChoose('on')}>{TEXTS.turnOn}</Button>;
  }
  return (
    <div className="fs-toolbar">
      <Button variant="default" onClick={() => onChoose('codes')}>
        {TEXTS.newCodes}
      </Button>
      <Button variant="default" onClick={() => onChoose('off')}>
        {TEXTS.turnOff}
      </Button>
    </div>
  );
}

function TurnOff({
  needsPassword,
  onDone,
}: {
  readonly needsPassword: boolean;
  readonly onDone: () => Promise<void>;
}) {
  const { isBusy, failure, submit } = useForm(async ({ code = '', password }) => {
    const body = password === undefined ? { code } : { code, password };
    await call('POST /auth/mfa/disable', { body });
    await onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      {needsPassword && (
        <PasswordInput
          name="password"
          label={TEXTS.currentPassword}
          autoComplete="current-password"
          required
        />
      )}
      <TextInput name="code" label={TEXTS.code} autoComplete="one-time-code" required />
      <Failure text={failure} />
      <Button type="submit" color="red" loading={isBusy}>
        {TEXTS.turnOff}
      </Button>
    </form>
  );
}

function NewCodes({ onDone }: { readonly onDone: () => Promise<void> }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { isBusy, failure, submit } = useForm(async ({ code = '' }) => {
    const made = await call('POST /auth/mfa/recovery-codes', { body: { code } });
    setCodes(made.recovery_codes);
  });
  if (codes !== null) return <RecoveryCodes codes={codes} onKept={onDone} />;
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="code" label={TEXTS.code} autoComplete="one-time-code" required />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.newCodes}
      </Button>
    </form>
  );
}
