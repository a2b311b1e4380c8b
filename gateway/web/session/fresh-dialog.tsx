// Asks for password and second factor again, for an act that wants them shown lately. A security key needs the password
// beside it, as a code does. Who has no password shows the factor of here alone, or logs in again at the provider.
import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { useSelector } from '@xstate/store-react';
import { useRef } from 'react';
import { call, useApi } from '../api/client.ts';
import { freshAsked } from '../api/fresh.ts';
import { Failure, useForm } from '../design/form.tsx';
import { KeyButton } from './key-button.tsx';
import { useSession } from './session.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

export function FreshDialog() {
  const waiting = useSelector(freshAsked, ({ context }) => context.waiting);
  const { user } = useSession();
  const hasPassword = user.can_log_in_with_password;
  const isLocal = hasPassword || user.mfa_state === 'on';
  return (
    <Modal
      opened={waiting !== null}
      onClose={() => waiting?.settle(false)}
      title={TEXTS.freshTitle}
      zIndex={400}
    >
      {waiting !== null && isLocal && (
        <ShowAgain hasPassword={hasPassword} onShown={() => waiting.settle(true)} />
      )}
      {waiting !== null && !isLocal && <ProvidersAgain />}
    </Modal>
  );
}

function ShowAgain({
  hasPassword,
  onShown,
}: {
  readonly hasPassword: boolean;
  readonly onShown: () => void;
}) {
  const password = useRef<HTMLInputElement>(null);
  const known = () => (hasPassword ? { password: password.current?.value ?? '' } : {});
  const { isBusy, failure, submit } = useForm(async ({ code = '' }) => {
    const body = code.trim() === '' ? known() : { ...known(), code: code.trim() };
    await call('POST /auth/reauthenticate', { body });
    onShown();
  });
  return (
    <>
      <form onSubmit={submit} className="fs-form">
        <p className="fs-quiet">{hasPassword ? TEXTS.freshHint : TEXTS.freshFactorHint}</p>
        {hasPassword && (
          <PasswordInput
            ref={password}
            name="password"
            label={TEXTS.currentPassword}
            autoComplete="current-password"
            required
            data-autofocus
          />
        )}
        <TextInput
          name="code"
          label={hasPassword ? TEXTS.codeOptional : TEXTS.code}
          autoComplete="one-time-code"
          required={!hasPassword}
        />
        <Failure text={failure} />
        <Button type="submit" loading={isBusy}>
          {TEXTS.go}
        </Button>
      </form>
      <KeyButton
        onShown={async (key) => {
          await call('POST /auth/reauthenticate', { body: { ...known(), security_key: key } });
          onShown();
        }}
      />
    </>
  );
}

/** The providers ask for credentials anew; what was to be done is done again afterwards. */
function ProvidersAgain() {
  const providers = useApi('GET /auth/sso/providers', {});
  const back = encodeURIComponent(`${window.location.pathname}${window.location.search}`);
  return (
    <div className="fs-form">
      <p className="fs-quiet">{TEXTS.freshProviderHint}</p>
      {(providers.data?.items ?? []).map(({ provider_id: id, name, start_url: url }) => (
        <Button
          key={id}
          component="a"
          variant="default"
          href={`${url}&fresh=true&return_to=${back}`}
        >
          {TEXTS.with(name)}
        </Button>
      ))}
    </div>
  );
}
