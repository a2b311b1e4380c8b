// Sets a password with the one-time secret that an administrator made.
import { Alert, Button, PasswordInput, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { Failure, useForm } from '../design/form.tsx';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

export function ResetPage() {
  const [done, setDone] = useState<string | null>(null);
  const { isBusy, failure, submit } = useForm(async ({ secret = '', password = '', again }) => {
    if (password !== again) throw new Error(TEXTS.differ);
    const { email } = await call('POST /auth/reset', { body: { secret: secret.trim(), password } });
    setDone(email);
  });
  return (
    <main className="fs-alone">
      <div className="fs-alone-card">
        <Title order={1}>{TEXTS.resetTitle}</Title>
        {done !== null && <Alert color="green">{TEXTS.resetDone(done)}</Alert>}
        {done === null && (
          <form onSubmit={submit} className="fs-form">
            <p className="fs-quiet">{TEXTS.resetHint}</p>
            <PasswordInput name="secret" label={TEXTS.resetSecret} autoComplete="off" required />
            <PasswordInput
              name="password"
              label={TEXTS.newPassword}
              autoComplete="new-password"
              required
            />
            <PasswordInput name="again" label={TEXTS.again} autoComplete="new-password" required />
            <Failure text={failure} />
            <Button type="submit" size="sm" loading={isBusy}>
              {TEXTS.setPassword}
            </Button>
          </form>
        )}
        <Link to="/login">{TEXTS.logIn}</Link>
      </div>
    </main>
  );
}
