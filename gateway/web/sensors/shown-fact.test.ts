import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { ShownField, ShownSensor } from '../../../machines/console/shown-field.ts';
import { shownFact } from './shown-fact.tsx';

const shown = (told: string | readonly string[], onPage?: ShownField['onPage']) => {
  const field = { title: 'Clock', rank: 0, read: () => told };
  const facts = shownFact(onPage ? { ...field, onPage } : field, {} as ShownSensor);
  return facts.map(([title, value]) => [
    title,
    renderToStaticMarkup(createElement('p', {}, value)),
  ]);
};

it('should show what a capability tells on the page: text as it is read, a state as a mark, else nothing', () => {
  expect(shown('ntp', 'text')).toEqual([['Clock', '<p><div>ntp</div></p>']]);
  expect(shown(['a', '<b>'], 'text')).toEqual([
    ['Clock', '<p><div>a</div><div>&lt;b&gt;</div></p>'],
  ]);
  expect(shown([], 'text')).toEqual([]);
  expect(shown('', 'text')).toEqual([]);
  expect(shown('ntp')).toEqual([]);
  expect(shown('', () => 'in_force')[0]?.[1]).toContain('In force');
});
