// Teams and groups come, change and go; the labels of a sensor change. Revoking is final, and stands in the test itself.
import type { Walk } from '../plumbing/walk.fixture.ts';

export const fleet: Walk = async ({ step, sensorId }) => {
  for (const kind of ['teams', 'groups']) {
    const made = await step('POST', `/${kind}`, { name: 'night' });
    const id = String(made.body['id']);
    await step('PATCH', `/${kind}/:id`, { name: 'day' }, { id });
    await step('POST', `/${kind}/:id/members`, { add_sensors: [sensorId] }, { id });
    await step('DELETE', `/${kind}/:id`, undefined, { id });
  }
  await step('PATCH', '/sensors/:id', { tags: ['web'] }, { id: sensorId });
  const tags = { sensor_ids: [sensorId], add_tags: ['edge'] };
  await step('POST', '/sensors/bulk-change', tags);
};
