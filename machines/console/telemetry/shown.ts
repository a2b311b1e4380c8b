// What the loss ledger of a sensor counted since its state directory was made; `sensors coverage` tells the hours.
import { LOSS_PLACES } from '../../wire/words.ts';
import type { ShownField, ShownSensor } from '../shown-field.ts';

export const seen: ShownField = {
  ...{ title: 'Seen', rank: 90 },
  read: (sensor) => settledCount(sensor, ['seen']),
};
export const lost: ShownField = {
  ...{ title: 'Lost', rank: 91 },
  read: (sensor) => settledCount(sensor, LOSS_PLACES),
};

function settledCount({ facts }: ShownSensor, names: readonly string[]): string {
  const loss = facts?.['loss'];
  if (typeof loss !== 'object' || loss === null) return '';
  const counts = loss as Readonly<Record<string, unknown>>;
  return String(names.reduce((sum, name) => sum + Number(counts[name] ?? 0), 0));
}
