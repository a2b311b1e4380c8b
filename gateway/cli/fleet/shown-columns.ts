// What capabilities show of a sensor, as `sensors get` and `sensors list -o wide` say it. decision: D174
import { LISTED_FIELDS, SHOWN_FIELDS } from '../../../machines/console/shown.ts';
import type { SensorDetail, SensorSummary } from '../../operator-plane/fleet/sensor-view.ts';
import type { Column } from '../plumbing/output.ts';

export const SHOWN_COLUMNS: readonly Column<SensorDetail>[] = SHOWN_FIELDS.map(
  ({ title, read }) => ({
    head: title.toUpperCase().replaceAll(' ', '-'),
    read(sensor) {
      const told = read(sensor);
      return told === '' ? '-' : told;
    },
  }),
);

export const LISTED_COLUMNS: readonly Column<SensorSummary>[] = LISTED_FIELDS.map(
  ({ id, read }) => ({
    ...{ head: id.toUpperCase(), wide: true },
    read: (sensor) => read(sensor) ?? '-',
  }),
);
