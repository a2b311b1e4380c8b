// Every call that the page makes is a route of the Console: its types come from the routes' schemas, its paths are written
// by hand and held against the program's own table here. decision: D54
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createFixture,
  type Fixture,
} from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { PAGE_ROOTS } from '../../gateway/page/page-paths.ts';
import { filesLike, textOf } from '../tidy/files.ts';

const CONTRACT = join(import.meta.dirname, '..', '..', 'gateway', 'web', 'api', 'contract.ts');
let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.app.close());

it('should call only what the Console has', () => {
  const calls = [...readFileSync(CONTRACT, 'utf8').matchAll(/'([A-Z]+ \/[\w/:-]+)':/g)].map(
    ([, call = '']) => call.replace(' ', ' /api/v2'),
  );
  const routes = new Set(
    fixture.app.routeTable.routes.map(({ method, url }) => `${method} ${url}`),
  );
  expect(calls.length).toBeGreaterThan(50);
  expect(calls.filter((call) => !routes.has(call))).toEqual([]);
});

it('should be served at every address that it has', () => {
  const paths = filesLike(/^gateway\/web\/\w+\/routes\.tsx$/).flatMap((file) =>
    [...textOf(file).matchAll(/rootRoute|shellRoute[\s\S]{0,40}?path: '([^']+)'/g)].flatMap(
      ([, path]) => (path === undefined ? [] : [path]),
    ),
  );
  const known: readonly string[] = PAGE_ROOTS;
  expect(paths.length).toBeGreaterThan(8);
  expect(paths.filter((path) => !known.includes(path.split('/')[1] ?? ''))).toEqual([]);
});
