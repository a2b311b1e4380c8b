// Webhooks as admins set them up, and what became of everything that was sent to them.
import { Button, Modal, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/client.ts';
import { Panel } from '../design/page.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { SIGNATURE_SAMPLES } from './samples.ts';
import { DELIVERY_TEXTS as TEXTS } from './texts.ts';
import { WebhookPanel } from './webhook-panel.tsx';

export function WebhooksTab() {
  const webhooks = useApi('GET /webhooks', {});
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const mayWrite = may('webhooks:write');
  const refresh = () => void webhooks.refetch();
  const add = mayWrite && <Button onClick={() => setAdding(true)}>{TEXTS.add}</Button>;
  return (
    <>
      <Answered of={webhooks}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.none} action={add}>
              {TEXTS.hint}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">{add}</div>
              <div className="fs-grid">
                {items.map((webhook) => (
                  <WebhookPanel
                    key={webhook.webhook_id}
                    webhook={webhook}
                    mayWrite={mayWrite}
                    onChange={refresh}
                  />
                ))}
              </div>
              <DeliveryLog webhooks={items} mayReplay={mayWrite} />
              <Samples />
            </>
          )
        }
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.add}>
        <NewWebhook
          onDone={() => {
            setAdding(false);
            refresh();
          }}
        />
      </Modal>
    </>
  );
}

function Samples() {
  const [first = ''] = Object.keys(SIGNATURE_SAMPLES);
  return (
    <Panel title={TEXTS.samples}>
      <p className="fs-quiet">{TEXTS.samplesHint}</p>
      <Tabs defaultValue={first}>
        <Tabs.List>
          {Object.keys(SIGNATURE_SAMPLES).map((language) => (
            <Tabs.Tab key={language} value={language}>
              {language}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(SIGNATURE_SAMPLES).map(([language, code]) => (
          <Tabs.Panel key={language} value={language}>
            <pre className="fs-mono">{code}</pre>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Panel>
  );
}
