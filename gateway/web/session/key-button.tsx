// A security key in place of a code: offered where the browser can use one and the person has one.
import { Button, Divider } from '@mantine/core';
import { useApi } from '../api/client.ts';
import { Failure, useForm } from '../design/form.tsx';
import { askSecurityKey, knowsSecurityKeys } from './security-key.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

type KeyAnswer = Awaited<ReturnType<typeof askSecurityKey>>;

export function KeyButton({ onShown }: { readonly onShown: (key: KeyAnswer) => Promise<void> }) {
  // The question is answered with a refusal where there is no key to ask.
  const asked = useApi('POST /auth/mfa/keys/ask', {}, { enabled: knowsSecurityKeys() });
  const { isBusy, failure, submit } = useForm(async () => onShown(await askSecurityKey()));
  if (!asked.isSuccess) return null;
  return (
    <form onSubmit={submit} className="fs-form">
      <Divider label={TEXTS.or} />
      <Failure text={failure} />
      <Button type="submit" variant="default" size="sm" loading={isBusy}>
        {TEXTS.useKey}
      </Button>
    </form>
  );
}
