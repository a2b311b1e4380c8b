// A destination comes, is tried, and goes.
import type { Walk } from '../plumbing/walk.fixture.ts';

const TOKEN = 'a token of a receiver';

export const siem: Walk = async ({ step, hide }) => {
  hide(TOKEN);
  const made = await step('POST', '/siem-destinations', {
    ...{ kind: 'observe', name: 'siem', target_url: 'https://siem.invalid/v1/http/path' },
    token: TOKEN,
  });
  const at = { id: String(made.body['destination_id']) };
  await step('PATCH', '/siem-destinations/:id', { revision: 1, filter: 'severity:high' }, at);
  await step('POST', '/siem-destinations/:id/test', {}, at);
  await step('POST', '/siem-destinations/:id/pause', {}, at);
  await step('POST', '/siem-destinations/:id/resume', {}, at);
  await step('DELETE', '/siem-destinations/:id', undefined, at);
};
