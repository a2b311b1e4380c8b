// Asks for password and second factor again, for an act that wants them shown lately. A security key needs the password
// beside it, as a code does.
import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { useSelector } from '@xstate/store-react';
import { useRef } from 'react';
import { call } from '../api/client.ts';
import { freshAsked } from '../api/fresh.ts';
import { Failure, useForm } from '../design/form.tsx';
import { KeyButton } from './key-button.tsx';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

export function FreshDialog() {
  const waiting = useSelector(freshAsked, ({ context }) => context.waiting);
  const password = useRef<HTMLInputElement>(null);
  const { isBusy, failure, submit } = useForm(async ({ password = '', code = '' }) => {
    const body = code.trim() === '' ? { password } : { password, code: code.trim() };
    await call('POST /auth/reauthenticate', { body });
    waiting?.settle(true);
  });
  return (
    <Modal
      opened={waiting !== null}
      onClose={() => waiting?.settle(false)}
      title={TEXTS.freshTitle}
      zIndex={400}
    >
      <form onSubmit={submit} className="fs-form">
        <p className="fs-quiet">{TEXTS.freshHint}</p>
        <PasswordInput
          ref={password}
          name="password"
          label={TEXTS.currentPassword}
          autoComplete="current-password"
          required
          data-autofocus
        />
        <TextInput name="code" label={TEXTS.codeOptional} autoComplete="one-time-code" />
        <Failure text={failure} />
        <Button type="submit" loading={isBusy}>
          {TEXTS.go}
        </Button>
      </form>
      {waiting !== null && (
        <KeyButton
          onShown={async (key) => {
            const body = { password: password.current?.value ?? '', security_key: key };
            await call('POST /auth/reauthenticate', { body });
            waiting.settle(true);
          }}
        />
      )}
    </Modal>
  );
}
