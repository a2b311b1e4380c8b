// The first run: the code from the terminal, then one step after the other, each judged by the Console before the next
// opens, and at the end the wait for its start.
import { Button, TextInput, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Failure, useForm } from '../design/form.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import {
  askSetup,
  forgetToken,
  isServing,
  type Locked,
  unlock,
  type View,
} from './setup-client.ts';
import { StepForm } from './step-form.tsx';
import { SETUP_TEXTS as TEXTS } from './texts.ts';

const LOOK_AGAIN_MS = 1_000;
const question = {
  queryKey: ['setup'],
  queryFn: () => askSetup<View | Locked>('GET', ''),
  staleTime: Number.POSITIVE_INFINITY,
};

export function SetupPage() {
  const view = useQuery(question);
  const cache = useQueryClient();
  const show = (next: View) => cache.setQueryData(question.queryKey, next);
  const [isFinished, setFinished] = useState(false);
  useEffect(() => {
    document.title = TEXTS.title;
  }, []);
  return (
    <main className="fs-setup">
      <Title order={1}>{TEXTS.title}</Title>
      {isFinished ? (
        <Restarting />
      ) : (
        <Answered of={view}>
          {(data) =>
            data.state === 'awaiting_code' ? (
              <Unlock onOpen={show} />
            ) : (
              <Steps view={data as View} onView={show} onFinish={() => setFinished(true)} />
            )
          }
        </Answered>
      )}
    </main>
  );
}

function Unlock({ onOpen }: { readonly onOpen: (view: View) => void }) {
  const { isBusy, failure, submit } = useForm(async ({ code = '' }) => {
    onOpen(await unlock(code.trim()));
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput
        name="code"
        label={TEXTS.codeTitle}
        description={TEXTS.codeHint}
        placeholder="XXXX-XXXX-XXXX"
        autoComplete="off"
        required
        autoFocus
        classNames={{ input: 'fs-mono' }}
      />
      <Failure text={failure} />
      <Button type="submit" size="sm" loading={isBusy}>
        {TEXTS.open}
      </Button>
    </form>
  );
}

function Steps({
  view,
  onView,
  onFinish,
}: {
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly onFinish: () => void;
}) {
  const [chosen, setChosen] = useState<string | null>(null);
  const open = chosen ?? view.next;
  const finish = useForm(async () => {
    await askSetup('POST', '/finish');
    onFinish();
  });
  return (
    <>
      <ol className="fs-steps">
        {view.steps.map(({ step, needed, done }) => (
          <li key={step} data-step={step} data-done={done}>
            <div className="fs-step-head">
              <h2>{TEXTS.steps[step]}</h2>
              <Mark tone={done ? 'good' : 'stale'}>
                {done ? TEXTS.done : needed ? TEXTS.needed : TEXTS.optional}
              </Mark>
            </div>
            <p className="fs-quiet">{TEXTS.hints[step]}</p>
            {open === step ? (
              <StepForm
                step={step}
                view={view}
                isDone={done}
                onView={(next) => {
                  setChosen(null);
                  onView(next);
                }}
              />
            ) : (
              <Button variant="default" onClick={() => setChosen(step)}>
                {TEXTS.change}
              </Button>
            )}
          </li>
        ))}
      </ol>
      <form onSubmit={finish.submit} className="fs-form">
        <Failure text={finish.failure ?? view.reason} />
        <Button type="submit" size="sm" loading={finish.isBusy} disabled={!view.can_finish}>
          {TEXTS.finish}
        </Button>
      </form>
    </>
  );
}

function Restarting() {
  useEffect(() => {
    forgetToken();
    // The Console that answers first may still be the one that ends: it is ready only when it serves.
    const timer = setInterval(() => {
      void isServing().then((serves) => {
        if (serves) location.replace('/login');
      });
    }, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div role="status" className="fs-form">
      <Mark tone="soon">{TEXTS.restarting}</Mark>
      <p className="fs-quiet">{TEXTS.restartingHint}</p>
    </div>
  );
}
