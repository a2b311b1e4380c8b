// Loops for operators, by example: seen by everybody who may see the system, run by admins, audited, and refused where
// another Console runs them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFrom } from '../../memory-ports.fixture.ts';
import { createFixture, type Fixture } from '../plumbing/operator-plane.fixture.ts';

// What a loop adds is in its own capability; these may not leave the registry again.
const PERIODIC = [
  'designated audit-sealer',
  'designated event-retention',
  'machine server-certificate',
  'process access-sweep',
  'process fleet-clock',
  'process fleet-sweep',
  'process license-clock',
  'process license-look',
  'process live-credentials',
  'process policy-follow',
  'process settings-look',
  'process telemetry-writes',
  'process transition-writes',
] as const;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({
    ports: {
      config: configFrom({
        base_url: 'https://console.example:15483',
        background_tasks: false,
      }),
    },
  });
});
afterAll(() => fixture.close());

async function call(method: 'GET' | 'POST', url: string, scopes: readonly string[] = ['admin']) {
  const headers = { authorization: `Bearer ${fixture.addKey(scopes)}` };
  const { statusCode, body } = await fixture.app.inject({ method, url, headers });
  return { status: statusCode, body: url === '/metrics' ? body : JSON.parse(body) };
}

describe('loops', () => {
  it('should be listed with their last and next run, and who is designated', async () => {
    const ran = await call('POST', '/api/v2/system/loops/access-sweep/run');
    expect(ran.status).toBe(200);
    const { status, body } = await call('GET', '/api/v2/system/loops', ['system:read']);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({
          ...{ name: 'access-sweep', runs_on: 'process', every_ms: 600_000, state: 'waiting' },
          ...{ failed_runs: 0, failures_in_a_row: 0, next_run_at: expect.any(String) },
          last_run: expect.objectContaining({ result: 'done', failure: null }),
          runs: ran.body.runs,
        }),
        expect.objectContaining({
          ...{ name: 'audit-sealer', state: 'off_duty', runs: 0 },
          ...{ last_run: null, next_run_at: null },
        }),
      ]),
      designation: { stands: false, is_designated: false, last: null },
    });
  });

  it('should be the periodic work of a Console, of which the designated rests without background tasks', async () => {
    const { body } = await call('GET', '/api/v2/system/loops', ['system:read']);
    type Item = { readonly name: string; readonly runs_on: string; readonly state: string };
    const items: readonly Item[] = body.items;
    const named = items.map(({ name, runs_on }) => `${runs_on} ${name}`);
    for (const known of PERIODIC) expect(named).toContain(known);
    for (const { runs_on, state } of items) {
      if (runs_on === 'designated') expect(state).toBe('off_duty');
      else expect(['waiting', 'running']).toContain(state);
    }
  });

  it('should be run by admins alone, leave a trace, and be counted', async () => {
    const { audit } = fixture.state;
    const refused = await call('POST', '/api/v2/system/loops/access-sweep/run', ['system:read']);
    expect(refused).toMatchObject({ status: 403, body: { code: 'role_required' } });
    const before = audit.filter(({ action }) => action === 'loop.run').length;
    const first = await call('POST', '/api/v2/system/loops/access-sweep/run');
    const second = await call('POST', '/api/v2/system/loops/access-sweep/run');
    expect(second.body.runs).toBe(first.body.runs + 1);
    const told = audit.filter(({ action }) => action === 'loop.run');
    expect(told).toHaveLength(before + 2);
    expect(told.at(-1)).toMatchObject({ target: 'access-sweep', result: 'ok' });
  });

  it('should be refused where another Console runs it, and where there is none', async () => {
    const off = await call('POST', '/api/v2/system/loops/audit-sealer/run');
    expect(off).toMatchObject({ status: 409, body: { code: 'loop_off_duty' } });
    const none = await call('POST', '/api/v2/system/loops/nothing/run');
    expect(none).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await call('POST', '/api/v2/system/loops/NO!/run')).status).toBe(422);
  });
});
