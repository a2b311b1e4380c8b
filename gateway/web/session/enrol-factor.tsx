// Turning on the second factor: the secret as a picture and as text, its first code, and the recovery codes, told once.
import { Button, PasswordInput, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { AnswerOf } from '../api/contract.ts';
import { CodeLine, CopyText } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

export function EnrolFactor({
  hint,
  needsPassword,
  onDone,
}: {
  readonly hint: string;
  readonly needsPassword: boolean;
  readonly onDone: () => Promise<void> | void;
}) {
  const [shown, setShown] = useState<AnswerOf<'POST /auth/mfa/enroll'> | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const begin = useForm(async ({ password }) => {
    const body = password === undefined ? {} : { password };
    setShown(await call('POST /auth/mfa/enroll', { body }));
  });
  const confirm = useForm(async ({ code = '' }) => {
    const { recovery_codes: told } = await call('POST /auth/mfa/confirm', { body: { code } });
    setCodes(told);
  });
  if (codes !== null) return <RecoveryCodes codes={codes} onKept={onDone} />;
  if (shown === null) {
    return (
      <form onSubmit={begin.submit} className="fs-form">
        <p className="fs-quiet">{hint}</p>
        {needsPassword && (
          <PasswordInput
            name="password"
            label={TEXTS.currentPassword}
            autoComplete="current-password"
            required
          />
        )}
        <Failure text={begin.failure} />
        <Button type="submit" size="sm" loading={begin.isBusy}>
          {TEXTS.enrolBegin}
        </Button>
      </form>
    );
  }
  return (
    <form onSubmit={confirm.submit} className="fs-form">
      <img
        className="fs-qr"
        alt={TEXTS.qr}
        src={`data:image/svg+xml;utf8,${encodeURIComponent(shown.qr_svg)}`}
      />
      <div>
        <div className="fs-meta">{TEXTS.secret}</div>
        <CodeLine value={shown.secret} label={TEXTS.secret} />
      </div>
      <TextInput name="code" label={TEXTS.code} autoComplete="one-time-code" required autoFocus />
      <Failure text={confirm.failure} />
      <Button type="submit" size="sm" loading={confirm.isBusy}>
        {TEXTS.confirm}
      </Button>
    </form>
  );
}

export function RecoveryCodes({
  codes,
  onKept,
}: {
  readonly codes: readonly string[];
  readonly onKept: () => Promise<void> | void;
}) {
  return (
    <div className="fs-form">
      <Title order={2}>
        {TEXTS.codesTitle} <CopyText value={codes.join('\n')} label={TEXTS.codesTitle} />
      </Title>
      <p className="fs-quiet">{TEXTS.codesHint}</p>
      <ul className="fs-codes">
        {codes.map((code) => (
          <li key={code} className="fs-mono">
            {code}
          </li>
        ))}
      </ul>
      <Button onClick={() => void onKept()}>{TEXTS.codesKept}</Button>
    </div>
  );
}
