// The loss ledger on the wire: by hour, what reached the Console and what was lost, and where. A count that is 0 is left
// out. A report is named by the Sensor's run and a number; the answer names the newest one whose hours are stored, and
// until then they are sent again. decision: D48; invariant: I19
import Type from 'typebox';
import { LOSS_HOURS_MAX } from '../limits.ts';
import { Count, Timestamp } from './scalars.ts';
import { LOSS_PLACES } from './words.ts';

export { LOSS_PLACES };

export type LossPlace = (typeof LOSS_PLACES)[number];

const SettledCounts = {
  /** Events that the Console has confirmed. */
  seen: Type.Optional(Count),
  kernel_lost: Type.Optional(Count),
  engine_lost: Type.Optional(Count),
  reader_skipped: Type.Optional(Count),
  pipeline_dropped: Type.Optional(Count),
  spool_discarded: Type.Optional(Count),
  console_refused: Type.Optional(Count),
};
/** The name of one process of a Sensor, drawn when it starts. */
const Run = Type.String({ pattern: '^[0-9a-f]{16}$' });

export const LossReport = Type.Object({
  run: Run,
  report: Count,
  /** Since the state directory was made. */
  total: Type.Object(SettledCounts),
  /** The hours that changed since the newest report that is known to be stored. */
  hours: Type.Array(Type.Object({ hour: Timestamp, ...SettledCounts }), {
    maxItems: LOSS_HOURS_MAX,
  }),
});
export const LossStored = Type.Object({ run: Run, report: Count });

/** What it adds to a heartbeat and its answer. */
export const LOSS_MEMBERS = {
  told: { loss: Type.Optional(LossReport) },
  /** The newest report of this Sensor whose hours are stored. */
  answered: { loss_stored: Type.Optional(LossStored) },
};

export type LossReport = Type.Static<typeof LossReport>;
export type LossStored = Type.Static<typeof LossStored>;
