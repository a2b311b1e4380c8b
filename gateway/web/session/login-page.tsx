// The way in: password or identity provider, then the second factor, or its set-up where the role needs one.
import { Button, Divider, PasswordInput, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { Standing } from '../api/contract.ts';
import { setPaused } from '../api/live.ts';
import { Failure, useForm } from '../design/form.tsx';
import { EnrolFactor } from './enrol-factor.tsx';
import { KeyButton } from './key-button.tsx';
import { ownPath } from './return-to.ts';
import { sessionQuestion } from './session.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/login');
type Needs = Standing['needs'];

export function LoginPage() {
  const { return_to: returnTo } = route.useSearch();
  const router = useRouter();
  const cache = useQueryClient();
  const standing = useApi('GET /auth/session', {});
  const [told, setTold] = useState<Needs | undefined>(undefined);
  const waits = standing.data?.stage === 'partial' ? standing.data.needs : null;
  const needs = told === undefined ? waits : told;
  // A step may leave another one to be done.
  const enter = async () => {
    cache.removeQueries({ queryKey: sessionQuestion().queryKey });
    const now = await cache.fetchQuery(sessionQuestion());
    if (now.stage !== 'full') {
      setTold(now.needs);
      return;
    }
    // What the end of the session before stopped.
    setPaused(false);
    router.history.push(ownPath(returnTo));
  };
  const leave = async () => {
    await call('POST /auth/logout', {}).catch(() => undefined);
    cache.clear();
    setTold(null);
  };
  return (
    <main className="fs-alone">
      <div className="fs-alone-card">
        {needs === 'totp' && <CodeForm onDone={enter} onLeave={leave} />}
        {needs === 'password_change' && (
          <ChangeForm
            onStanding={(next) => (next === null ? void enter() : setTold(next))}
            onLeave={leave}
          />
        )}
        {needs === 'totp_enrollment' && (
          <>
            <Title order={1}>{TEXTS.enrolTitle}</Title>
            <EnrolFactor hint={TEXTS.enrolHint} needsPassword={false} onDone={enter} />
            <LeaveButton onLeave={leave} />
          </>
        )}
        {needs === null && (
          <PasswordForm
            returnTo={ownPath(returnTo)}
            onStanding={(now) => (now.needs === null ? void enter() : setTold(now.needs))}
          />
        )}
      </div>
    </main>
  );
}

function PasswordForm({
  returnTo,
  onStanding,
}: {
  readonly returnTo: string;
  readonly onStanding: (standing: Standing) => void;
}) {
  const providers = useApi('GET /auth/sso/providers', {});
  const { isBusy, failure, submit } = useForm(async (values) => {
    const { email = '', password = '' } = values;
    onStanding(await call('POST /auth/login', { body: { email, password } }));
  });
  const offered = providers.data?.items ?? [];
  return (
    <>
      <Title order={1}>{TEXTS.logIn}</Title>
      <form onSubmit={submit} className="fs-form">
        <TextInput
          name="email"
          type="email"
          label={TEXTS.email}
          autoComplete="username"
          required
          autoFocus
        />
        <PasswordInput
          name="password"
          label={TEXTS.password}
          autoComplete="current-password"
          required
        />
        <Failure text={failure} />
        <Button type="submit" size="sm" loading={isBusy}>
          {TEXTS.logIn}
        </Button>
      </form>
      {offered.length > 0 && <Divider label={TEXTS.or} />}
      {offered.map(({ provider_id: id, name, start_url: url }) => (
        <Button
          key={id}
          component="a"
          variant="default"
          size="sm"
          href={`${url}&return_to=${encodeURIComponent(returnTo)}`}
        >
          {TEXTS.with(name)}
        </Button>
      ))}
      <Link to="/login/reset">{TEXTS.haveLink}</Link>
    </>
  );
}

function ChangeForm({
  onStanding,
  onLeave,
}: {
  readonly onStanding: (needs: Needs) => void;
  readonly onLeave: () => Promise<void>;
}) {
  const { isBusy, failure, submit } = useForm(async ({ current = '', next = '', again }) => {
    if (next !== again) throw new Error(TEXTS.differ);
    const body = { current_password: current, new_password: next };
    onStanding((await call('POST /auth/password', { body })).needs);
  });
  return (
    <>
      <Title order={1}>{TEXTS.changeTitle}</Title>
      <form onSubmit={submit} className="fs-form">
        <p className="fs-quiet">{TEXTS.changeHint}</p>
        <PasswordInput
          name="current"
          label={TEXTS.currentPassword}
          autoComplete="current-password"
          required
        />
        <PasswordInput name="next" label={TEXTS.newPassword} autoComplete="new-password" required />
        <PasswordInput name="again" label={TEXTS.again} autoComplete="new-password" required />
        <Failure text={failure} />
        <Button type="submit" size="sm" loading={isBusy}>
          {TEXTS.setPassword}
        </Button>
      </form>
      <LeaveButton onLeave={onLeave} />
    </>
  );
}

function CodeForm({
  onDone,
  onLeave,
}: {
  readonly onDone: () => Promise<void>;
  readonly onLeave: () => Promise<void>;
}) {
  const { isBusy, failure, submit } = useForm(async ({ code = '' }) => {
    await call('POST /auth/mfa/verify', { body: { code } });
    await onDone();
  });
  return (
    <>
      <Title order={1}>{TEXTS.factorTitle}</Title>
      <form onSubmit={submit} className="fs-form">
        <TextInput
          name="code"
          label={TEXTS.code}
          description={TEXTS.factorHint}
          autoComplete="one-time-code"
          required
          autoFocus
        />
        <Failure text={failure} />
        <Button type="submit" size="sm" loading={isBusy}>
          {TEXTS.go}
        </Button>
      </form>
      <KeyButton
        onShown={async (key) => {
          await call('POST /auth/mfa/verify', { body: { security_key: key } });
          await onDone();
        }}
      />
      <LeaveButton onLeave={onLeave} />
    </>
  );
}

function LeaveButton({ onLeave }: { readonly onLeave: () => Promise<void> }) {
  return (
    <Button variant="subtle" onClick={() => void onLeave()}>
      {TEXTS.otherAccount}
    </Button>
  );
}
