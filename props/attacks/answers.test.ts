// Attack 42: answers that are taken for something else. Every route that reads says of what type its answer is and in which
// charset, to whoever may read it and to whoever may not; the routes are read from the program's own table. invariant: I18
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createFixture,
  type Fixture,
} from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';

/** Text says its charset. JSON is UTF-8 by its definition, and so is what is made of it. */
const TEXT = /^(text\/[a-z-]+|application\/[a-z-]+)(; version=[\d.]+)?; ?charset=utf-8$/i;
const WITHOUT_CHARSET = /^(application\/(problem\+json|gzip|x-pem-file)|image\/[a-z+]+)$/;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

describe('attack 36: every answer', () => {
  it('should name its type and charset, whoever asks', async () => {
    const callers: readonly Readonly<Record<string, string>>[] = [
      {},
      { authorization: `Bearer ${fixture.addKey(['admin'])}` },
      fixture.addSession(fixture.addUser('viewer')),
    ];
    const paths = fixture.app.routeTable.routes
      .filter(({ method }) => method === 'GET')
      .map(({ url }) => url.replaceAll(/:[a-z_]+/gi, '00000000-0000-7000-8000-00000000ffff'));
    expect(paths.length).toBeGreaterThan(60);
    const odd: string[] = [];
    for (const headers of callers) {
      for (const url of paths) {
        const answer = await fixture.app.inject({ method: 'GET', url, headers });
        const type = String(answer.headers['content-type'] ?? '');
        const isEmpty = answer.payload === '';
        if (!isEmpty && !TEXT.test(type) && !WITHOUT_CHARSET.test(type)) odd.push(`${url} ${type}`);
        if (answer.headers['x-content-type-options'] !== 'nosniff') odd.push(`${url} sniffed`);
      }
    }
    expect(odd).toEqual([]);
  });
});
