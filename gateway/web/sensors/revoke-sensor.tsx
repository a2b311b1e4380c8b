// The one act that cannot be taken back: it says what follows, and wants the name typed and a reason for the audit log.
import { Button, Modal, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { SensorDetail } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const REASON_MAX = 512;

export function RevokeSensor({
  sensor,
  isOpen,
  onClose,
}: {
  readonly sensor: SensorDetail;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const cache = useQueryClient();
  const [typed, setTyped] = useState('');
  const { isBusy, failure, submit } = useForm(async ({ reason = '' }) => {
    await call('POST /sensors/:id/revoke', { params: { id: sensor.sensor_id }, body: { reason } });
    await cache.invalidateQueries();
    onClose();
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title={TEXTS.revoke}>
      <form onSubmit={submit} className="fs-form">
        <p className="fs-break">{TEXTS.revokeHint(sensor.node_name)}</p>
        <TextInput
          label={TEXTS.typeName}
          placeholder={sensor.node_name}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <TextInput name="reason" label={TEXTS.reason} maxLength={REASON_MAX} required />
        <Failure text={failure} />
        <Button type="submit" color="red" loading={isBusy} disabled={typed !== sensor.node_name}>
          {TEXTS.revoke}
        </Button>
      </form>
    </Modal>
  );
}
