// What is usual for one program on one node, as a Sensor has learned it: one item of the inventory section `baselines`.
// Weights fade with time, so they are no counts; a name that faded away is left out. A list is the heaviest names only.
import Type from 'typebox';
import { BASELINE_NAME_MAX_CHARS, BASELINE_NAMES_MAX } from '../limits.ts';
import { Text, Timestamp } from './scalars.ts';

const HOURS_OF_DAY = 24;
const Weight = Type.Number({ minimum: 0 });
const Usual = Type.Array(Type.Object({ name: Text(BASELINE_NAME_MAX_CHARS), weight: Weight }), {
  maxItems: BASELINE_NAMES_MAX,
});

export const Baseline = Type.Object({
  binary: Text(4_096),
  executions: Weight,
  /** False while too little was seen to call anything unusual. */
  is_warm: Type.Boolean(),
  learned_since: Timestamp,
  updated_at: Timestamp,
  children: Usual,
  files: Usual,
  destinations: Usual,
  users: Usual,
  /** By hour of the day, UTC. */
  hours: Type.Array(Weight, { minItems: HOURS_OF_DAY, maxItems: HOURS_OF_DAY }),
});
export type Baseline = Type.Static<typeof Baseline>;
