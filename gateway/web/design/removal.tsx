// Removing what cannot be brought back: its name is typed first.
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Failure, useForm } from './form.tsx';

type Props = {
  /** What has to be typed. */
  readonly name: string;
  /** What goes with it. */
  readonly hint: string;
  readonly nameLabel: string;
  readonly removeLabel: string;
  readonly remove: () => Promise<unknown>;
  readonly onDone: () => void;
};

export function Removal({ name, hint, nameLabel, removeLabel, remove, onDone }: Props) {
  const [typed, setTyped] = useState('');
  const { isBusy, failure, submit } = useForm(async () => {
    await remove();
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <p>{hint}</p>
      <TextInput
        label={nameLabel}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Failure text={failure} />
      <Button type="submit" color="red" disabled={typed !== name} loading={isBusy}>
        {removeLabel}
      </Button>
    </form>
  );
}
