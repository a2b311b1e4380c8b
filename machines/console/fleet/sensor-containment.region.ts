// The states of a sensor's containment, a region of `sensor.machine.ts`. decision: D87
const is = (state: 'containing' | 'contained' | 'releasing' | 'failed') => ({
  guard: { type: 'isContainment' as const, params: { is: state } },
  target: state,
});

export const CONTAINMENT_REGION = {
  deciding: {
    description: 'Transient: the order and what the node said of it decide.',
    always: [
      is('containing'),
      is('contained'),
      is('releasing'),
      is('failed'),
      { target: 'released' as const },
    ],
  },
  released: { description: 'The node is not contained.' },
  containing: {
    description: 'Containment is ordered, not yet confirmed by the sensor.',
    after: { untilVoidMs: { target: 'deciding' as const, actions: 'noteVoid' as const } },
  },
  contained: { description: 'The sensor confirmed containment.' },
  releasing: { description: 'Release is ordered, not yet confirmed by the sensor.' },
  failed: { description: 'The node could not carry the order out, and says why.' },
};
