// The form of one step, with what the Console says of the answer.
import { Button, PasswordInput, Radio, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Failure, useForm } from '../design/form.tsx';
import { askSetup, type StepName, type View } from './setup-client.ts';
import { SETUP_TEXTS as TEXTS } from './texts.ts';

type Values = Readonly<Record<string, string>>;
type StoreName = keyof typeof TEXTS.examples;
type Props = {
  readonly step: StepName;
  readonly view: View;
  readonly isDone: boolean;
  readonly onView: (view: View) => void;
};

export function StepForm({ step, view, isDone, onView }: Props) {
  const { isBusy, failure, submit } = useForm(async (values) => {
    onView(await askSetup<View>('PUT', `/${step}`, bodyOf(step, values)));
  });
  const leaveOut = async () => onView(await askSetup<View>('DELETE', `/${step}`));
  const mayLeaveOut = isDone && ['broker', 'redis', 'license'].includes(step);
  return (
    <form onSubmit={submit} className="fs-form">
      <Fields step={step} answers={view.answers} />
      <Failure text={failure} />
      <div className="fs-toolbar">
        <Button type="submit" loading={isBusy}>
          {TEXTS.save}
        </Button>
        {mayLeaveOut && (
          <Button variant="default" onClick={() => void leaveOut()}>
            {TEXTS.leaveOut}
          </Button>
        )}
      </div>
    </form>
  );
}

function Fields({ step, answers }: { readonly step: StepName; readonly answers: View['answers'] }) {
  if (step === 'platform') {
    return (
      <>
        <Radio.Group name="platform" defaultValue={answers['platform'] ?? 'standard'}>
          {Object.entries(TEXTS.platforms).map(([value, label]) => (
            <Radio key={value} value={value} label={label} my={6} />
          ))}
        </Radio.Group>
        <TextInput
          name="base_url"
          label={TEXTS.baseUrl}
          placeholder="https://console.example.org:15483"
          defaultValue={answers['base_url'] ?? ''}
        />
      </>
    );
  }
  if (step === 'license')
    return <Textarea name="envelope" label={TEXTS.envelope} minRows={5} autosize required />;
  if (step === 'admin') return <AdminFields email={answers['admin_email'] ?? ''} />;
  return <StoreFields step={step} />;
}

function StoreFields({ step }: { readonly step: StoreName }) {
  const [kind, setKind] = useState('embedded');
  const [url, setUrl] = useState('');
  const hasOwn = step === 'database' || step === 'analytics';
  const tested = useTest(step, url);
  return (
    <>
      {hasOwn && (
        <Radio.Group name="kind" value={kind} onChange={setKind}>
          <Radio value="embedded" label={TEXTS.embedded} my={6} />
          <Radio value="external" label={TEXTS.external} my={6} />
        </Radio.Group>
      )}
      {(!hasOwn || kind === 'external') && (
        <>
          <TextInput
            name="url"
            label={TEXTS.address}
            placeholder={TEXTS.examples[step]}
            value={url}
            onChange={({ currentTarget }) => setUrl(currentTarget.value)}
            required
            spellCheck={false}
          />
          <Button
            variant="default"
            loading={tested.isBusy}
            onClick={() => tested.run()}
            disabled={url === ''}
          >
            {TEXTS.test}
          </Button>
          <Failure text={tested.failure} />
          {tested.about !== null && <p role="status">{TEXTS.works(tested.about)}</p>}
        </>
      )}
    </>
  );
}

function useTest(store: StoreName, url: string) {
  const [about, setAbout] = useState<string | null>(null);
  const { isBusy, failure, run } = useForm(async () => {
    setAbout(null);
    const answer = await askSetup<{ about: string }>('POST', '/test', { store, url: url.trim() });
    setAbout(answer.about);
  });
  return { about, isBusy, failure, run };
}

function AdminFields({ email }: { readonly email: string }) {
  return (
    <>
      <TextInput
        name="email"
        type="email"
        label={TEXTS.email}
        autoComplete="username"
        defaultValue={email}
        required
      />
      <TextInput name="display_name" label={TEXTS.name} maxLength={128} autoComplete="name" />
      <PasswordInput name="password" label={TEXTS.password} autoComplete="new-password" required />
      <PasswordInput name="again" label={TEXTS.again} autoComplete="new-password" required />
    </>
  );
}

function bodyOf(step: StepName, values: Values): unknown {
  const { platform, base_url: baseUrl = '', kind, url = '', envelope = '' } = values;
  switch (step) {
    case 'platform':
      return baseUrl.trim() === '' ? { platform } : { platform, base_url: baseUrl.trim() };
    case 'database':
    case 'analytics':
      return kind === 'external' ? { kind, url: url.trim() } : { kind: 'embedded' };
    case 'license':
      return jsonIn(envelope);
    case 'admin': {
      const { email = '', display_name = '', password, again } = values;
      if (password !== again) throw new Error(TEXTS.differ);
      return { email: email.trim(), display_name: display_name.trim(), password };
    }
    default:
      return { url: url.trim() };
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(TEXTS.notJson);
  }
}
