// A digest is set up, changed, tried and removed.
import type { Walk } from '../plumbing/walk.fixture.ts';

const SECRET = 'the secret of a digest';

export const digest: Walk = async ({ step, hide }) => {
  hide(SECRET);
  const plan = {
    ...{ name: 'daily', time_zone: 'Europe/Berlin', at: '08:00' },
    webhook: { target_url: 'https://digests.invalid/hook' },
  };
  const made = await step('POST', '/digests', { ...plan, secret: SECRET });
  const at = { id: String(made.body['digest_id']) };
  await step('PUT', '/digests/:id', { ...plan, at: '09:00', revision: 1 }, at);
  await step('POST', '/digests/:id/test', {}, at);
  await step('DELETE', '/digests/:id', undefined, at);
};
