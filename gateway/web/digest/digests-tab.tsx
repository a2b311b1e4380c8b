// Daily digests as admins set them up, and what became of their newest day.
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/client.ts';
import { Answered, Nothing } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { DigestForm } from './digest-form.tsx';
import { DigestPanel } from './digest-panel.tsx';
import { DIGEST_TEXTS as TEXTS } from './texts.ts';

export function DigestsTab() {
  const digests = useApi('GET /digests', {});
  const mayWrite = useMay()('digests:write');
  const [isAdding, setAdding] = useState(false);
  const refresh = () => void digests.refetch();
  const add = mayWrite && <Button onClick={() => setAdding(true)}>{TEXTS.add}</Button>;
  return (
    <>
      <Answered of={digests}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.none} action={add}>
              {TEXTS.hint}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">{add}</div>
              <div className="fs-grid">
                {items.map((one) => (
                  <DigestPanel
                    key={one.digest_id}
                    digest={one}
                    mayWrite={mayWrite}
                    onChange={refresh}
                  />
                ))}
              </div>
            </>
          )
        }
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.add}>
        <DigestForm
          digest={null}
          onDone={() => {
            setAdding(false);
            refresh();
          }}
        />
      </Modal>
    </>
  );
}
