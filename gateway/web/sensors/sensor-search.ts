// The address of the list: every filter and the order, as the API names them.
import { TRUST_HEALTHS, TRUST_STATES } from '../../../machines/wire/words.ts';
import type { QueryOf } from '../api/contract.ts';
import { listIn, present, textIn } from '../shell/search-params.ts';

export type SensorSearch = Omit<QueryOf<'GET /sensors'>, 'limit' | 'cursor'> & {
  /** Columns that are shown; the usual ones when absent. */
  readonly columns?: readonly string[];
};
export type FilterName = keyof SensorSearch;

export const FRESHNESS = ['awaiting', 'fresh', 'stale'] as const;
export const STREAM = ['open', 'closed'] as const;
export const ENGINE = ['running', 'down', 'unknown'] as const;
export const FLAVORS = ['standard', 'telecom'] as const;
export const ENGINE_KINDS = ['ebpf', 'procfs', 'tetragon'] as const;
const COLUMNS_MAX = 32;
const SORT = /^-?[a-z_]{1,40}$/;

/** Reads an address; what means nothing is left out. */
export function sensorSearchOf(search: Record<string, unknown>): SensorSearch {
  const sort = textIn(search['sort']);
  const version = textIn(search['sensor_version']);
  return present({
    node_name: textIn(search['node_name']),
    trust_health: listIn(search['trust_health'], TRUST_HEALTHS),
    trust_state: listIn(search['trust_state'], TRUST_STATES),
    freshness: listIn(search['freshness'], FRESHNESS),
    stream: listIn(search['stream'], STREAM),
    engine: listIn(search['engine'], ENGINE),
    engine_kind: listIn(search['engine_kind'], ENGINE_KINDS),
    flavor: listIn(search['flavor'], FLAVORS),
    os: textIn(search['os']),
    sensor_version: version === undefined ? undefined : [version],
    tag: textIn(search['tag']),
    group_id: textIn(search['group_id']),
    team_id: textIn(search['team_id']),
    columns: columnsIn(search['columns']),
    sort: sort !== undefined && SORT.test(sort) ? sort : undefined,
  }) as SensorSearch;
}

function columnsIn(value: unknown): string[] | undefined {
  const found = [value].flat().filter((one): one is string => typeof one === 'string');
  return found.length === 0 ? undefined : found.slice(0, COLUMNS_MAX);
}

/** What the Console is asked for. */
export function questionOf({ columns: _columns, ...question }: SensorSearch) {
  return question;
}

/** Whether anything is filtered by; an order and columns hide nothing. */
export function hasFilter({ sort: _sort, columns: _columns, ...filters }: SensorSearch): boolean {
  return Object.keys(filters).length > 0;
}
