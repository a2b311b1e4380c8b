// A form that sends its values, and the line that says why that failed.
import { Alert } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { sentenceOf } from '../api/problem.ts';

/** One line in red, read out when it comes. */
export function Failure({ text }: { readonly text: string | null }) {
  return text === null ? null : (
    <Alert color="red" variant="light" role="alert" p="xs">
      {text}
    </Alert>
  );
}

/** A form that sends its values: busy while it does, and the reason when it failed. */
export function useForm(send: (values: Readonly<Record<string, string>>) => Promise<void>) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const run = (values: Readonly<Record<string, string>> = {}) => {
    setBusy(true);
    setFailure(null);
    send(values)
      .catch((error: unknown) => setFailure(sentenceOf(error)))
      .finally(() => setBusy(false));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entries = [...new FormData(event.currentTarget)].map(
      ([name, value]) => [name, typeof value === 'string' ? value : ''] as const,
    );
    run(Object.fromEntries(entries));
  };
  return { isBusy, failure, submit, run };
}
