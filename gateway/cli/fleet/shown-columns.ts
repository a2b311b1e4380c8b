// What capabilities show of one sensor, as `sensors get` says it. decision: D174
import { SHOWN_FIELDS } from '../../../machines/console/shown.ts';
import type { SensorDetail } from '../../operator-plane/fleet/sensor-view.ts';
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
