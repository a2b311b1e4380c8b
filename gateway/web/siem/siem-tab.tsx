// SIEM destinations as admins set them up, and how far behind each is.
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/client.ts';
import { Answered, Nothing } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { NewSiem } from './new-siem.tsx';
import { SiemPanel } from './siem-panel.tsx';
import { SIEM_TEXTS as TEXTS } from './texts.ts';

export function SiemTab() {
  const destinations = useApi('GET /siem-destinations', {});
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const mayWrite = may('siem:write');
  const refresh = () => void destinations.refetch();
  const add = mayWrite && <Button onClick={() => setAdding(true)}>{TEXTS.add}</Button>;
  return (
    <>
      <Answered of={destinations}>
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
                  <SiemPanel
                    key={one.destination_id}
                    destination={one}
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
        <NewSiem
          onDone={() => {
            setAdding(false);
            refresh();
          }}
        />
      </Modal>
    </>
  );
}
