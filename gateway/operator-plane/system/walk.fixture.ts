// Periodic work is begun by hand.
import type { Walk } from '../plumbing/walk.fixture.ts';

export const system: Walk = async ({ step }) => {
  await step('POST', '/system/loops/:name/run', {}, { id: 'fleet-sweep' });
};
