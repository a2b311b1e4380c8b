// Waits for the sensor of a token, live: the fleet's topic says when to look. What it is to be labelled with it gets as
// soon as it is there.
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call, useApi } from '../api/client.ts';
import { useTopic } from '../api/live.ts';
import { sentenceOf } from '../api/problem.ts';
import { Mark } from '../design/shape.tsx';
import { arrivalOf } from './arrival.ts';
import { DEPLOY_TEXTS as TEXTS } from './texts.ts';

/** What the topic told within a second of the last look is seen at the next. */
const LOOK_AGAIN_MS = 3_000;
const NEWEST = 50;

export type Labels = { readonly groupId: string | null; readonly tags: readonly string[] };

export function Connected({
  tokenId,
  labels,
}: {
  readonly tokenId: string;
  readonly labels: Labels;
}) {
  const again = { refetchInterval: LOOK_AGAIN_MS };
  const tokens = useApi('GET /enrollment-tokens', { query: { limit: NEWEST } }, again);
  const query = { sort: '-enrolled_at', limit: NEWEST } as const;
  const newest = useApi('GET /sensors', { query }, again);
  const lookedAt = useRef(0);
  useTopic({ topic: 'fleet' }, () => {
    if (Date.now() - lookedAt.current < 1_000) return;
    lookedAt.current = Date.now();
    void tokens.refetch();
    void newest.refetch();
  });
  const sensor = arrivalOf(tokenId, tokens.data?.items ?? [], newest.data?.items ?? []);
  const told = useLabelling(sensor?.sensor_id, labels);
  const isThere = sensor !== undefined && sensor.last_heartbeat_at !== null;
  return (
    <>
      <p role="status" data-token={tokenId}>
        {isThere ? (
          <>
            <Mark tone="good">{TEXTS.connected(sensor.node_name)}</Mark>{' '}
            <Link to="/sensors/$id/overview" params={{ id: sensor.sensor_id }}>
              {TEXTS.show}
            </Link>
          </>
        ) : (
          <Mark tone="soon">{sensor === undefined ? TEXTS.waiting : TEXTS.waitingBeat}</Mark>
        )}
      </p>
      {told !== null && <p role="status">{told}</p>}
    </>
  );
}

/** Gives a sensor its group and tags, once; says how that went. */
function useLabelling(sensorId: string | undefined, { groupId, tags }: Labels): string | null {
  const [told, setTold] = useState<string | null>(null);
  const asked = useRef<string | null>(null);
  useEffect(() => {
    const hasLabels = groupId !== null || tags.length > 0;
    if (sensorId === undefined || !hasLabels || asked.current === sensorId) return;
    asked.current = sensorId;
    const body = {
      sensor_ids: [sensorId],
      add_tags: [...tags],
      ...(groupId === null ? {} : { add_group_ids: [groupId] }),
    };
    call('POST /sensors/bulk-change', { body }).then(
      ({ items: [result] }) =>
        setTold(result?.ok === true ? TEXTS.labelled : TEXTS.notLabelled(result?.detail ?? '')),
      (error: unknown) => setTold(TEXTS.notLabelled(sentenceOf(error))),
    );
  }, [sensorId, groupId, tags]);
  return told;
}
