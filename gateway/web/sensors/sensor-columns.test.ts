import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { columnsOf } from './sensor-columns.tsx';

it('should show a column that a capability declares when it is chosen, and not at first', () => {
  expect(columnsOf(undefined).map(({ id }) => id)).not.toContain('containment');
  const [name, column] = columnsOf(['containment']);
  expect([name?.id, column?.id, column?.title]).toEqual(['name', 'containment', 'Containment']);
  const shown = (states: object | null) =>
    renderToStaticMarkup(createElement('p', {}, column?.cell({ states } as never)));
  expect(shown({ containment: 'contained' })).toContain('Contained');
  expect(shown(null)).toContain('Unknown');
});
