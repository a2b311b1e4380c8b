// A security key in place of a code: offered where the browser can use one and the person has one.
import { Button, Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { asking } from '../api/client.ts';
import { Failure, useForm } from '../design/form.tsx';
import { askSecurityKey, knowsSecurityKeys } from './security-key.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

type KeyAnswer = Awaited<ReturnType<typeof askSecurityKey>>;

export function KeyButton({ onShown }: { readonly onShown: (key: KeyAnswer) => Promise<void> }) {
  // Answered with a refusal where there is no key to ask. It is never put again by itself: a second question would take the
  // place of the one that a key just answers, and the dialog of a key takes the focus from the window.
  const asked = useQuery({
    ...asking('POST /auth/mfa/keys/ask', {}),
    ...{ enabled: knowsSecurityKeys(), staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
    ...{ refetchOnWindowFocus: false, refetchOnReconnect: false },
  });
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
