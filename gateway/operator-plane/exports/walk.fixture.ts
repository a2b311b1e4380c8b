// Days go to a bucket, which is tried, and one of them goes again.
import { DAY_MS } from '../../../machines/units.ts';
import type { Walk } from '../plumbing/walk.fixture.ts';

const BUCKET_SECRET = 'the secret of a bucket';

export const exports: Walk = async ({ step, hide }) => {
  hide(BUCKET_SECRET);
  const s3 = {
    ...{ endpoint: 'https://s3.invalid', region: 'eu-central-1', bucket: 'events' },
    ...{ access_key_id: 'AKIDEXAMPLE', secret_access_key: BUCKET_SECRET },
  };
  await step('PUT', '/exports/target', { revision: 0, kind: 's3', s3 });
  await step('POST', '/exports/target/test');
  // A day that is over, and whose rows are all there.
  const day = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
  await step('POST', '/exports/:id/run', undefined, { id: `runtime_events.${day}` });
};
