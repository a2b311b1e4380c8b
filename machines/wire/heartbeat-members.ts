// What a heartbeat and its answer hold beside the Sensor's own words, joined from `heartbeat-list.ts`. decision: D71
import type { TSchema } from 'typebox';
import * as LIST from './heartbeat-list.ts';

type Members = {
  /** Of the body; optional, since an older Sensor does not tell them. */
  readonly told: Readonly<Record<string, TSchema>>;
  /** Of the answer; optional, since an older Console does not know them. */
  readonly answered: Readonly<Record<string, TSchema>>;
};

const HEARTBEAT_MEMBERS = joined(Object.values(LIST));

export const TOLD_MEMBERS = HEARTBEAT_MEMBERS.told;
export const ANSWERED_MEMBERS = HEARTBEAT_MEMBERS.answered;

type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer Every,
) => void
  ? Every
  : never;

/** Puts the members of all together; throws when two claim one name. */
function joined<const List extends readonly Members[]>(list: List) {
  const join = (side: keyof Members) => {
    const names = list.flatMap((one) => Object.keys(one[side]));
    if (new Set(names).size < names.length) throw new Error(`two claim one of ${names.join(', ')}`);
    return Object.assign({}, ...list.map((one) => one[side]));
  };
  return { told: join('told'), answered: join('answered') } as {
    readonly told: All<List[number]['told']>;
    readonly answered: All<List[number]['answered']>;
  };
}
