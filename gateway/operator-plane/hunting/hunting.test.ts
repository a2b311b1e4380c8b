// Saved searches, investigations, exercises and what is usual over the operator API: what goes in, what comes out, and what
// is refused.
import { generateKeyPairSync } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { verifyArchive } from '../../../actors/hunting/investigation-archive.ts';
import { filesInTar, tarOf } from '../../../machines/console/hunting/tar.ts';
import { EXERCISE_STEPS } from '../../../machines/detection/exercise-steps.ts';
import {
  createFixture,
  type Fixture,
  sensorIdOf,
  storedEvent,
} from '../plumbing/operator-plane.fixture.ts';

const SCOPES = [
  ...['searches:read', 'searches:write', 'events:read', 'investigations:read'],
  ...['investigations:write', 'exercises:read', 'exercises:write', 'usual:write'],
];
let fixture: Fixture;
afterEach(() => fixture.close());

async function world() {
  fixture = await createFixture({}, 1_000);
  const keys = { authorization: `Bearer ${fixture.addKey(SCOPES)}` };
  return async (method: string, path: string, body?: object, headers: object = keys) => {
    const answer = await fixture.app.inject({
      method: method as 'GET',
      url: `/api/v2${path}`,
      headers: { ...headers },
      ...(body === undefined ? {} : { payload: body }),
    });
    const isJson = String(answer.headers['content-type']).includes('json');
    const said = isJson && answer.body !== '' ? JSON.parse(answer.body) : {};
    return { status: answer.statusCode, body: said, raw: answer.rawPayload };
  };
}

const WATCHED = { search_name: 'often', filter: { q: 'binary:*/bash' }, threshold: 3 };

describe('saved searches', () => {
  it('should be saved, changed from what was read, paused, resumed, run and removed', async () => {
    const ask = await world();
    const made = await ask('POST', '/saved-searches', WATCHED);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ state: 'below', window_secs: 300, severity: 'medium' });
    const path = `/saved-searches/${made.body.search_id}`;
    expect((await ask('POST', '/saved-searches', WATCHED)).body.code).toBe('search_name_taken');
    const stale = await ask('PATCH', path, { revision: 9, threshold: 4 });
    expect(stale.body.code).toBe('document_conflict');
    const changed = await ask('PATCH', path, { revision: 1, threshold: 4, window_secs: 60 });
    expect(changed.body).toMatchObject({ threshold: 4, window_secs: 60, revision: 2 });
    expect((await ask('POST', `${path}/pause`)).body.state).toBe('paused');
    expect((await ask('POST', `${path}/pause`)).body.code).toBe('state_refuses');
    expect((await ask('POST', `${path}/resume`)).body.state).toBe('below');
    fixture.state.events.push(
      storedEvent(1),
      storedEvent(2, { process: { exec_id: 'x', pid: 1, binary: '/bin/bash' } }),
    );
    const run = await ask('GET', `${path}/events`);
    expect(run.body.items.map(({ message }: { message: string }) => message)).toEqual(['event 2']);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('GET', path)).status).toBe(404);
    const actions = fixture.state.audit.map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(['saved_search.create', 'saved_search.change', 'saved_search.remove']),
    );
  });

  it.each([
    [{ filter: { q: 'colour:red' } }, '/filter/q'],
    [{ filter: { colour: 'red' } }, '/filter'],
    [{ threshold: 0 }, '/threshold'],
    [{ window_secs: 1 }, '/window_secs'],
  ])('should be refused with %j', async (wrong, pointer) => {
    const ask = await world();
    const { status, body } = await ask('POST', '/saved-searches', { ...WATCHED, ...wrong });
    expect(status).toBe(422);
    expect(JSON.stringify(body.errors)).toContain(pointer);
  });
});

describe('investigations', () => {
  const begun = async (ask: Awaited<ReturnType<typeof world>>) => {
    const { body } = await ask('POST', '/investigations', { name: '<b>case</b>', summary: 's' });
    return `/investigations/${body.investigation_id}`;
  };

  it('should collect what is there, once, and merge it in the order of time', async () => {
    const ask = await world();
    const path = await begun(ask);
    const sensor_id = fixture.addSensor(1);
    const [one, two] = [storedEvent(1, { sensor_id }), storedEvent(2, { sensor_id })];
    fixture.state.events.push(one, two);
    const named = [two, one].map(({ event_id, observed_at }) => ({
      ...{ event_id, sensor_id, observed_at },
    }));
    const add = (body: object) => ask('POST', `${path}/items`, body);
    expect((await add({ what: 'events', events: named, note: 'why' })).body).toEqual({ added: 2 });
    expect((await add({ what: 'events', events: named })).body).toEqual({ added: 0 });
    expect((await add({ what: 'sensor', sensor_id })).body).toEqual({ added: 1 });
    // Of one instant the ids decide, and those of one millisecond are in no order.
    fixture.state.nowMs += 1;
    expect((await add({ what: 'note', note: 'seen' })).body).toEqual({ added: 1 });
    const nobody = sensorIdOf(99);
    expect((await add({ what: 'sensor', sensor_id: nobody })).status).toBe(404);
    expect((await add({ what: 'alert', alert_id: nobody })).status).toBe(404);
    const gone = [{ ...named[0], event_id: 'f'.repeat(32) }];
    expect((await add({ what: 'events', events: gone })).status).toBe(404);
    const { items } = (await ask('GET', `${path}/timeline`)).body;
    expect(items.map(({ what }: { what: string }) => what)).toEqual([
      ...['event', 'event', 'sensor', 'note'],
    ]);
    expect(items[0].event.message).toBe('event 2');
    const first = await ask('GET', `${path}/timeline?limit=3`);
    expect(first.body.items).toHaveLength(3);
    const rest = await ask('GET', `${path}/timeline?cursor=${first.body.next_cursor}`);
    expect(rest.body).toMatchObject({ items: [{ what: 'note' }], next_cursor: null });
    fixture.state.events.length = 0;
    expect((await ask('GET', `${path}/timeline`)).body.items[0]).toMatchObject({ is_gone: true });
    const item = items[0].item_id;
    expect((await ask('DELETE', `${path}/items/${item}`)).status).toBe(204);
    const another = await begun(ask);
    expect((await ask('DELETE', `${another}/items/${items[1].item_id}`)).status).toBe(404);
  });

  it('should be taken, handed over, closed for good, and opened again', async () => {
    const ask = await world();
    const path = await begun(ask);
    fixture.addUser('analyst', { email: 'next@example.org' });
    expect((await ask('POST', `${path}/take`, {})).body.state).toBe('in_progress');
    const nobody = await ask('POST', `${path}/hand-over`, { to: 'nobody@example.org' });
    expect(nobody.status).toBe(422);
    const handed = await ask('POST', `${path}/hand-over`, { to: 'next@example.org', text: 'look' });
    expect(handed.body).toMatchObject({ state: 'handed_over', assignee: 'user:next@example.org' });
    const closed = await ask('POST', `${path}/close`, { outcome: 'benign' });
    expect(closed.body).toMatchObject({ state: 'closed', outcome: 'benign' });
    for (const [act, body] of [
      ['take', {}],
      ['close', { outcome: 'benign' }],
      ['items', { what: 'note', note: 'late' }],
    ] as const) {
      expect((await ask('POST', `${path}/${act}`, body)).body.code).toBe('state_refuses');
    }
    expect((await ask('POST', `${path}/reopen`, {})).body).toMatchObject({ state: 'open' });
    const { items } = (await ask('GET', `${path}/timeline`)).body;
    expect(items.map(({ headline }: { headline: string }) => headline)).toEqual([
      ...['open to in_progress', 'in_progress to handed_over', 'handed_over to closed'],
      'closed to open',
    ]);
  });

  it('should leave as an archive that is judged without the Console', async () => {
    const ask = await world();
    const path = await begun(ask);
    const sensor_id = fixture.addSensor(1);
    const hostile = '<script>alert(1)</script>';
    const event = storedEvent(1, { sensor_id, message: hostile });
    fixture.state.events.push(event);
    const { event_id, observed_at } = event;
    const events = [{ event_id, sensor_id, observed_at }];
    await ask('POST', `${path}/items`, { what: 'events', events });
    const { status, raw } = await ask('GET', `${path}/archive`);
    expect(status).toBe(200);
    const verdict = await verifyArchive(raw);
    expect(verdict).toMatchObject({ ok: true, manifest: { name: '<b>case</b>' } });
    const files = filesInTar(gunzipSync(raw), 99) ?? [];
    const textOf = (name: string) =>
      Buffer.from(files.find((file) => file.name === name)?.content ?? []).toString();
    expect(textOf('index.html')).not.toContain('<script>');
    expect(textOf('index.html')).toContain('&lt;script&gt;');
    expect(textOf('events.ndjson')).toContain(event_id);
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
    expect(await verifyArchive(raw, String(other))).toMatchObject({ ok: false });
    for (const changed of [
      files.map((file) =>
        file.name === 'events.ndjson' ? { ...file, content: Buffer.from('{}\n') } : file,
      ),
      files.filter((file) => file.name !== 'index.html'),
      [...files, { name: 'more.txt', content: Buffer.from('x') }],
      files.map((file) =>
        file.name === 'manifest.json'
          ? { ...file, content: Buffer.from(textOf('manifest.json').replace('case', 'fall')) }
          : file,
      ),
    ]) {
      const forged = gzipSync(tarOf('x', changed, 0));
      expect(await verifyArchive(forged)).toMatchObject({ ok: false });
    }
    expect(await verifyArchive(Buffer.from('nothing'))).toMatchObject({ ok: false });
    const exported = fixture.state.audit.filter(({ action }) => action === 'investigation.export');
    expect(exported).toHaveLength(1);
  });
});

describe('exercises', () => {
  it('should be planned with steps of the library on sensors that are there', async () => {
    const ask = await world();
    const sensorId = fixture.addSensor(1);
    const plan = { name: 'drill', window_secs: 60, sensor_ids: [sensorId] };
    const steps = [{ step: 'whoami' }, { step: 'decode', rule_id: 'r1' }];
    const made = await ask('POST', '/exercises', { ...plan, steps });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ state: 'planned', expected: 2, seen: 0 });
    expect(made.body.steps[0].command).toBe('service-sensor exercise run whoami');
    const wrong = await ask('POST', '/exercises', { ...plan, steps: [{ step: 'rm -rf /' }] });
    expect(wrong.body.errors).toEqual([
      { pointer: '/steps/0/step', detail: 'is no step of the library' },
    ]);
    const away = { ...plan, sensor_ids: [sensorIdOf(99)], steps };
    expect((await ask('POST', '/exercises', away)).status).toBe(422);
    const path = `/exercises/${made.body.exercise_id}`;
    expect((await ask('POST', `${path}/end`)).body.code).toBe('state_refuses');
    expect((await ask('POST', `${path}/start`)).body.state).toBe('running');
    expect((await ask('POST', `${path}/end`)).body.state).toBe('settling');
    expect((await ask('POST', `${path}/abandon`)).body.state).toBe('abandoned');
    expect((await ask('DELETE', path)).status).toBe(204);
    const { items } = (await ask('GET', '/exercises/steps')).body;
    expect(items).toHaveLength(EXERCISE_STEPS.length);
  });
});

describe('what is usual', () => {
  it('should be marked with a reason, told beside an event, and removed', async () => {
    const ask = await world();
    const sensor_id = fixture.addSensor(1);
    const process = { exec_id: 'x', pid: 1, binary: '/bin/odd', uid: 7 };
    const event = storedEvent(1, { sensor_id, process, event_kind: 'process_exec' });
    fixture.state.events.push({ ...event, anomaly_score: 0.9 });
    const { event_id, observed_at } = event;
    const query = new URLSearchParams({ event_id, sensor_id, observed_at });
    const explain = () => ask('GET', `/events/explanation?${query}`);
    const before = (await explain()).body;
    expect(before).toMatchObject({ anomaly_score: 0.9, is_declared_usual: false });
    expect(before.respects).toContainEqual(
      expect.objectContaining({ respect: 'users', value: '7', is_learned: null }),
    );
    expect((await ask('POST', '/usual-marks', { reason: 'all' })).status).toBe(422);
    const made = await ask('POST', '/usual-marks', { binary: '/bin/odd', reason: 'ours' });
    expect(made.status).toBe(201);
    expect((await explain()).body.is_declared_usual).toBe(true);
    expect((await ask('DELETE', `/usual-marks/${made.body.mark_id}`)).status).toBe(204);
    expect((await explain()).body.is_declared_usual).toBe(false);
    query.set('event_id', 'f'.repeat(32));
    expect((await explain()).status).toBe(404);
  });
});
