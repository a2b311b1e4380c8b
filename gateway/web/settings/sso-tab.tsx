// Identity providers: set up, checked, switched on and off. The client secret goes in and never comes out again.
import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { SSO_KINDS } from '../../../machines/console/access/sso-provider.rules.ts';
import { call, useApi } from '../api/client.ts';
import type { Provider } from '../api/contract.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

type Kind = (typeof SSO_KINDS)[number];

export function SsoTab() {
  const providers = useApi('GET /sso-providers', {});
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const add = may('sso:write') && (
    <Button onClick={() => setAdding(true)}>{TEXTS.newProvider}</Button>
  );
  const refresh = () => void providers.refetch();
  return (
    <>
      <Answered of={providers}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noProviders} action={add}>
              {TEXTS.providersHint}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">{add}</div>
              <div className="fs-grid">
                {items.map((provider) => (
                  <ProviderPanel
                    key={provider.provider_id}
                    provider={provider}
                    mayWrite={may('sso:write')}
                    onChange={refresh}
                  />
                ))}
              </div>
            </>
          )
        }
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.newProvider}>
        <NewProvider
          onDone={() => {
            setAdding(false);
            refresh();
          }}
        />
      </Modal>
    </>
  );
}

function ProviderPanel({
  provider,
  mayWrite,
  onChange,
}: {
  readonly provider: Provider;
  readonly mayWrite: boolean;
  readonly onChange: () => void;
}) {
  const params = { id: provider.provider_id };
  const [said, setSaid] = useState<string | null>(null);
  const { is_enabled: isOn, revision } = provider;
  const toggle = useForm(async () => {
    await call('PATCH /sso-providers/:id', { params, body: { revision, is_enabled: !isOn } });
    onChange();
  });
  const check = useForm(async () => {
    const { is_working: isWorking, detail } = await call('POST /sso-providers/:id/test', {
      params,
    });
    setSaid(isWorking ? TEXTS.works : detail);
  });
  const remove = useForm(async () => {
    await call('DELETE /sso-providers/:id', { params });
    onChange();
  });
  return (
    <Panel title={provider.name}>
      <div className="fs-form">
        <Facts
          facts={[
            [
              TEXTS.status,
              <Mark key="on" tone={isOn ? 'good' : 'stale'}>
                {isOn ? TEXTS.enabled : TEXTS.disabled}
              </Mark>,
            ],
            [TEXTS.kind, provider.kind],
            [TEXTS.issuer, provider.issuer],
            [TEXTS.clientId, provider.client_id],
          ]}
        />
        <div>
          <div className="fs-meta">{TEXTS.redirect}</div>
          <CodeLine value={provider.redirect_uri} label={TEXTS.redirect} />
        </div>
        {said !== null && <p role="status">{said}</p>}
        <Failure text={toggle.failure ?? check.failure ?? remove.failure} />
        {mayWrite && (
          <div className="fs-toolbar">
            <Button variant="default" loading={check.isBusy} onClick={() => check.run()}>
              {TEXTS.check}
            </Button>
            <Button variant="default" loading={toggle.isBusy} onClick={() => toggle.run()}>
              {isOn ? TEXTS.disable : TEXTS.enable}
            </Button>
            <Button
              color="red"
              variant="outline"
              loading={remove.isBusy}
              onClick={() => remove.run()}
            >
              {TEXTS.remove}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}

function NewProvider({ onDone }: { readonly onDone: () => void }) {
  const [kind, setKind] = useState<Kind>(SSO_KINDS[0]);
  const { isBusy, failure, submit } = useForm(async (values) => {
    const { name = '', issuer = '', client_id = '', client_secret = '' } = values;
    await call('POST /sso-providers', { body: { kind, name, issuer, client_id, client_secret } });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <Select
        label={TEXTS.kind}
        allowDeselect={false}
        data={[...SSO_KINDS]}
        value={kind}
        onChange={(next) => setKind(next as Kind)}
      />
      <TextInput name="name" label={TEXTS.name} required />
      <TextInput name="issuer" label={TEXTS.issuer} placeholder="https://id.example.org" required />
      <TextInput name="client_id" label={TEXTS.clientId} required />
      <TextInput
        name="client_secret"
        type="password"
        label={TEXTS.clientSecret}
        autoComplete="off"
        required
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.create}
      </Button>
    </form>
  );
}
