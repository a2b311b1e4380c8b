// What is shown of the policies of a sensor: whether what it is to have is in force, and what the engine carries out, each
// with its state, what it did, and what it would have done had it not only monitored.
import { factOf, itemsOf, type ShownField } from '../shown-field.ts';

export const policy: ShownField = {
  ...{ title: 'Policy', rank: 10 },
  read: (sensor) => sensor.states?.policy ?? '',
  onPage: ({ states }) => states?.policy,
  column: { as: 'state', width: 110, read: ({ states }) => states?.policy },
};
export const policies: ShownField = {
  ...{ title: 'Policies', rank: 30 },
  read: (sensor) =>
    itemsOf(factOf(sensor, 'engine')['loaded_policies']).map((one) => {
      const [acted, wouldHave] = [Number(one['acted'] ?? 0), Number(one['would_have_acted'] ?? 0)];
      const more = [
        acted > 0 ? `acted ${acted} times` : '',
        wouldHave > 0 ? `would have acted ${wouldHave} times` : '',
        String(one['reason'] ?? ''),
      ];
      const told = [`${one['name']} ${one['state']}`, ...more.filter((text) => text !== '')];
      return told.join(', ');
    }),
};
