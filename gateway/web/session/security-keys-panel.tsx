// The own security keys: which there are and when each was used, a new one under a name, and the way to remove one.
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { SECURITY_KEY_NAME_MAX_CHARS } from '../../../machines/limits.ts';
import { call, useApi } from '../api/client.ts';
import type { SecurityKey } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { addSecurityKey, knowsSecurityKeys } from './security-key.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

export function SecurityKeysPanel() {
  const keys = useApi('GET /auth/mfa/keys', {});
  const factor = useApi('GET /auth/mfa', {});
  const cache = useQueryClient();
  const renew = () => cache.invalidateQueries({ queryKey: ['GET /auth/mfa/keys'] });
  return (
    <Panel title={TEXTS.securityKeys}>
      <Answered of={keys} rows={2}>
        {({ items }) => (
          <div className="fs-form">
            {items.length === 0 && <p className="fs-quiet">{TEXTS.noSecurityKeys}</p>}
            <ul className="fs-lines">
              {items.map((key) => (
                <KeyLine key={key.key_id} of={key} onGone={renew} />
              ))}
            </ul>
            <NewKey why={whyNot(factor.data?.state)} onAdded={renew} />
          </div>
        )}
      </Answered>
    </Panel>
  );
}

/** Why none can be added here; null when one can. */
function whyNot(factor: 'off' | 'pending' | 'on' | undefined): string | null {
  if (!knowsSecurityKeys()) return TEXTS.noKeysHere;
  return factor === 'on' ? null : TEXTS.appFirst;
}

function KeyLine({ of, onGone }: { readonly of: SecurityKey; readonly onGone: () => unknown }) {
  const { isBusy, failure, submit } = useForm(async () => {
    await call('DELETE /auth/mfa/keys/:id', { params: { id: of.key_id } });
    await onGone();
  });
  return (
    <li className="fs-key-line">
      <span className="fs-break">
        <bdi>{of.name}</bdi>
      </span>
      <span className="fs-quiet">
        {TEXTS.lastUsed} <Ago at={of.last_used_at} />
      </span>
      <form onSubmit={submit}>
        <Button
          type="submit"
          variant="default"
          loading={isBusy}
          aria-label={TEXTS.removeKey(of.name)}
        >
          {TEXTS.remove}
        </Button>
      </form>
      <Failure text={failure} />
    </li>
  );
}

function NewKey({
  why,
  onAdded,
}: {
  readonly why: string | null;
  readonly onAdded: () => unknown;
}) {
  const [isNaming, setNaming] = useState(false);
  const { isBusy, failure, submit } = useForm(async ({ name = '' }) => {
    await addSecurityKey(name.trim());
    setNaming(false);
    await onAdded();
  });
  if (why !== null) return <p className="fs-meta">{why}</p>;
  if (!isNaming) return <Button onClick={() => setNaming(true)}>{TEXTS.addKey}</Button>;
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput
        name="name"
        label={TEXTS.keyNameNew}
        description={TEXTS.keyNameHint}
        maxLength={SECURITY_KEY_NAME_MAX_CHARS}
        required
        data-autofocus
      />
      <Failure text={failure} />
      <div className="fs-toolbar">
        <Button type="submit" loading={isBusy}>
          {TEXTS.touchKey}
        </Button>
        <Button variant="subtle" onClick={() => setNaming(false)}>
          {TEXTS.cancel}
        </Button>
      </div>
    </form>
  );
}
