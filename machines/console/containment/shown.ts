// What is shown of the containment of a sensor: its state, and why it is not the one that was ordered.
import { factOf, type ShownField } from '../shown-field.ts';

export const containment: ShownField = {
  ...{ title: 'Containment', rank: 40 },
  read(sensor) {
    const state = sensor.states?.containment ?? '';
    const { failure } = factOf(sensor, 'containment');
    return typeof failure === 'string' ? `${state || '-'}: ${failure}` : state;
  },
  onPage: ({ states }) => states?.containment,
  column: { as: 'state', width: 110, read: ({ states }) => states?.containment },
};
