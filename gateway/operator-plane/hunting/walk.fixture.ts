// Saved searches, an investigation from its begin to its end and on, an exercise, and what is usual.
import type { Told, Walk } from '../plumbing/walk.fixture.ts';

export const hunting: Walk = async ({ step, sensorId, relational, addAnalyst }) => {
  const idOf = ({ body }: Told, name: string) => ({ id: String(body[name]) });
  const watched = { search_name: 'often', filter: { q: 'uid:0' }, threshold: 5 };
  const search = idOf(await step('POST', '/saved-searches', watched), 'search_id');
  await step('PATCH', '/saved-searches/:id', { revision: 1, threshold: 6 }, search);
  await step('POST', '/saved-searches/:id/pause', {}, search);
  await step('POST', '/saved-searches/:id/resume', {}, search);
  await step('DELETE', '/saved-searches/:id', undefined, search);

  const begun = await step('POST', '/investigations', { name: 'case' });
  const under = idOf(begun, 'investigation_id');
  await step('PATCH', '/investigations/:id', { revision: 1, summary: 'what it is' }, under);
  await step('POST', '/investigations/:id/take', {}, under);
  await step('POST', '/investigations/:id/items', { what: 'note', note: 'seen' }, under);
  const [held] = await relational.investigationItems.list({
    ...{ parentId: under.id, limit: 1, before: null },
  });
  const item = { ...under, item: held?.id ?? '' };
  await step('DELETE', '/investigations/:id/items/:item_id', undefined, item);
  const to = await addAnalyst();
  await step('POST', '/investigations/:id/hand-over', { to }, under);
  await step('POST', '/investigations/:id/close', { outcome: 'benign' }, under);
  await step('POST', '/investigations/:id/reopen', {}, under);

  const plan = { name: 'drill', window_secs: 60, sensor_ids: [sensorId] };
  const planned = await step('POST', '/exercises', { ...plan, steps: [{ step: 'whoami' }] });
  const drill = idOf(planned, 'exercise_id');
  for (const act of ['start', 'end', 'abandon']) {
    await step('POST', `/exercises/:id/${act}`, {}, drill);
  }
  await step('DELETE', '/exercises/:id', undefined, drill);

  const marked = await step('POST', '/usual-marks', { binary: '/bin/ours', reason: 'ours' });
  await step('DELETE', '/usual-marks/:id', undefined, idOf(marked, 'mark_id'));
};
