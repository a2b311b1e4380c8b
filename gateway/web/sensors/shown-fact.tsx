// What a capability shows on the page of one sensor. decision: D174
import type { ShownField, ShownSensor } from '../../../machines/console/shown-field.ts';
import type { Fact } from '../design/page.tsx';
import { StateMark } from './state-marks.tsx';

/** What a capability shows here; nothing where it tells nothing. */
export function shownFact(field: ShownField, sensor: ShownSensor): readonly Fact[] {
  const { title, onPage } = field;
  if (onPage === undefined) return [];
  if (onPage !== 'text') return [[title, <StateMark key={title} state={onPage(sensor)} />]];
  const told = [field.read(sensor)].flat().filter((text) => text !== '');
  return told.length === 0 ? [] : [[title, told.map((text) => <div key={text}>{text}</div>)]];
}
