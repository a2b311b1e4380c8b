// A whole filter as a file: asked for with the session, in the format that Accept names, kept by the browser under a name.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { problemOf, sentenceOf } from '../api/problem.ts';
import { Icon } from './icons.tsx';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

export function Download({
  address,
  format,
  label,
  name,
}: {
  readonly address: string;
  readonly format: keyof typeof TYPES;
  readonly label: string;
  readonly name: string;
}) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const fetchFile = async () => {
    const answer = await fetch(address, { headers: { accept: TYPES[format] } });
    if (!answer.ok) throw await problemOf(answer);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await answer.blob());
    link.download = `${name}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.${format}`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const start = () => {
    setBusy(true);
    setFailure(null);
    fetchFile()
      .catch((error: unknown) => setFailure(sentenceOf(error)))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button
        variant="default"
        loading={isBusy}
        leftSection={<Icon name="download" size={14} />}
        onClick={start}
      >
        {label}
      </Button>
      {failure !== null && <span role="alert">{failure}</span>}
    </>
  );
}
