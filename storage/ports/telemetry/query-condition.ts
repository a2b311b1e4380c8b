// Every filter of a query that looks into an event's text, as one condition: both stores and the live channel judge it
// alike. decision: D97
import type { Condition } from '../../../machines/detection/condition.ts';
import type { EventQuery } from './event-store.ts';

type TextFilters = Pick<Partial<EventQuery>, 'binaryContains' | 'text' | 'condition'>;

/** What an event must satisfy beside time, sensor, kind and severity; null when nothing is asked. */
export function conditionOfQuery(query: TextFilters): Condition | null {
  const { binaryContains = '', text = '', condition } = query;
  const parts: Condition[] = [];
  if (binaryContains !== '') {
    const part = binaryContains.toWellFormed();
    parts.push({ is: 'contains', field: 'process.binary', text: part });
  }
  if (text !== '') parts.push({ is: 'words', text: text.toWellFormed() });
  if (condition !== undefined) parts.push(condition);
  const [first] = parts;
  if (first === undefined) return null;
  return parts.length === 1 ? first : { is: 'all', of: parts };
}
