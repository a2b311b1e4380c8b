// The chain of the trail, computed again in this tab: from the Console's own export or from a file that somebody kept. What
// is said about it comes from nowhere else.
import { Button, FileButton } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { type ReadVerdict, tellFault } from '../../../machines/trust/audit-trail.rules.ts';
import { sentenceOf } from '../api/problem.ts';
import { CopyText } from '../design/copy.tsx';
import { exact } from '../design/numbers.ts';
import { Facts, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { AUDIT_TEXTS as TEXTS } from './texts.ts';
import { fetchTrail, verifyBytes } from './verify.ts';

const TOLD_EVERY_MS = 250;

type Standing =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly rows: number }
  | { readonly is: 'failed'; readonly text: string }
  | { readonly is: 'done'; readonly verdict: ReadVerdict; readonly of: string };

export function VerifyPanel() {
  const { standing, start, stop } = useVerification();
  const isRunning = standing.is === 'running';
  return (
    <Panel title={TEXTS.verifyTitle}>
      <div className="fs-toolbar">
        <Button variant="default" loading={isRunning} onClick={() => start(null)}>
          {TEXTS.verify}
        </Button>
        <FileButton
          accept=".ndjson,.jsonl,application/x-ndjson"
          onChange={(file) => file !== null && start(file)}
        >
          {(props) => (
            <Button {...props} variant="default" disabled={isRunning}>
              {TEXTS.verifyFile}
            </Button>
          )}
        </FileButton>
        {isRunning && (
          <>
            <span role="status">{TEXTS.verifying(exact(standing.rows))}</span>
            <Button variant="subtle" onClick={stop}>
              {TEXTS.stop}
            </Button>
          </>
        )}
        {standing.is === 'idle' && <span className="fs-meta">{TEXTS.verifyHint}</span>}
      </div>
      {standing.is === 'failed' && (
        <p role="alert" className="fs-break">
          <Mark tone="bad">{standing.text}</Mark>
        </p>
      )}
      {standing.is === 'done' && <Verdict verdict={standing.verdict} of={standing.of} />}
    </Panel>
  );
}

function useVerification() {
  const [standing, setStanding] = useState<Standing>({ is: 'idle' });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = (file: File | null) => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    const { signal } = own;
    const tell = (next: Standing) => {
      if (!signal.aborted) setStanding(next);
    };
    let toldAtMs = 0;
    const onRows = (rows: number) => {
      if (performance.now() - toldAtMs < TOLD_EVERY_MS) return;
      toldAtMs = performance.now();
      tell({ is: 'running', rows });
    };
    tell({ is: 'running', rows: 0 });
    const run = async () => {
      const bytes = file === null ? await fetchTrail(signal) : file.stream();
      const verdict = await verifyBytes(bytes, { signal, onRows });
      tell({ is: 'done', verdict, of: file?.name ?? TEXTS.ofConsole });
    };
    run().catch((error: unknown) => tell({ is: 'failed', text: sentenceOf(error) }));
  };
  const stop = () => {
    running.current?.abort();
    setStanding({ is: 'idle' });
  };
  return { standing, start, stop };
}

function Verdict({ verdict, of }: { readonly verdict: ReadVerdict; readonly of: string }) {
  const { isIntact, isCut, sealedRows, openTail, signedRows, checkpoints, keys } = verdict;
  const lines = troublesOf(verdict);
  return (
    <div role="status" className="fs-form" data-intact={isIntact}>
      <p className="fs-break">
        <Mark tone={isIntact ? 'good' : 'bad'}>
          {isIntact
            ? TEXTS.good(exact(sealedRows), exact(checkpoints))
            : TEXTS.bad(lines[0] ?? TEXTS.noTrail)}
        </Mark>
      </p>
      {lines.length > 1 && (
        <ul>
          {lines.slice(1).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {isCut && <p className="fs-meta">{TEXTS.cut(exact(sealedRows))}</p>}
      <Facts
        facts={[
          [TEXTS.verified, <bdi key="of">{of}</bdi>],
          [TEXTS.signedTo, exact(signedRows)],
          [TEXTS.openTail, exact(openTail)],
          [
            TEXTS.keys,
            keys.length === 0 ? TEXTS.noKeys : keys.map((key) => <Key key={key} value={key} />),
          ],
        ]}
      />
      {keys.length > 0 && <p className="fs-meta">{TEXTS.keysHint}</p>}
    </div>
  );
}

function Key({ value }: { readonly value: string }) {
  return (
    <span className="fs-toolbar">
      <span className="fs-mono fs-break">{value}</span>
      <CopyText value={value} label={TEXTS.keys} />
    </span>
  );
}

function troublesOf({ faults, unreadable, isOrdered }: ReadVerdict): readonly string[] {
  return [
    ...(isOrdered ? [] : [TEXTS.unordered]),
    ...faults.map(tellFault),
    ...unreadable.map(TEXTS.unreadable),
  ];
}
