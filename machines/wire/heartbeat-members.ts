// What a heartbeat and its answer hold beside the Sensor's own words, joined from `heartbeat-list.ts`. decision: D71
import type { TSchema } from 'typebox';
import { joined } from '../joined.ts';
import * as LIST from './heartbeat-list.ts';

type Members = {
  /** Of the body; optional, since an older Sensor does not tell them. */
  readonly told: Readonly<Record<string, TSchema>>;
  /** Of the answer; optional, since an older Console does not know them. */
  readonly answered: Readonly<Record<string, TSchema>>;
};
type Side<Name extends keyof Members> = {
  readonly [One in keyof typeof LIST]: (typeof LIST)[One][Name];
};

export const TOLD_MEMBERS = joined(side('told'));
export const ANSWERED_MEMBERS = joined(side('answered'));

function side<Name extends keyof Members>(name: Name): Side<Name> {
  const list: Readonly<Record<string, Members>> = LIST;
  const entries = Object.entries(list).map(([one, members]) => [one, members[name]]);
  return Object.fromEntries(entries) as Side<Name>;
}
