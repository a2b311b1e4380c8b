// A node is contained and let go.
import type { Walk } from '../plumbing/walk.fixture.ts';

export const containment: Walk = async ({ step, sensorId }) => {
  await step('POST', '/sensors/:id/contain', { reason: 'a drill' }, { id: sensorId });
  await step('POST', '/sensors/:id/release', { reason: 'it is over' }, { id: sensorId });
};
