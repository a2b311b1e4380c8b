// `service-console webhooks`, `deliveries`, `siem`, `digests` and `exports` by example, against the real listener and receivers
// that answer. decision: D101, D104, D153, D158, D166
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { shellFinding } from '../../../props/journeys/findings.ts';
import { openMailReceiver } from '../../../props/peers/mail-receiver.ts';
import {
  openWebhookReceiver,
  type WebhookReceiver,
} from '../../../props/peers/webhook-receiver.ts';
import { type Cli, openCli } from '../plumbing/cli.fixture.ts';
import { EXIT } from '../plumbing/exit.ts';

let cli: Cli;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await openWebhookReceiver();
  cli = await openCli();
  const allowed = await cli.run('settings', 'set', 'webhook_allow_list=127.0.0.1', '-o', 'name');
  expect(allowed.code, allowed.err).toBe(EXIT.ok);
});
afterAll(async () => {
  await cli.close();
  await receiver.close();
});

function file(name: string, text: string): string {
  const path = join(cli.home, name);
  writeFileSync(path, text);
  return path;
}
/** A command that has to succeed; its lines. */
async function done(...argv: readonly string[]): Promise<readonly string[]> {
  const said = await cli.run(...argv);
  expect([argv.join(' '), said.code, said.err]).toEqual([argv.join(' '), EXIT.ok, said.err]);
  return said.out;
}
const json = async (...argv: readonly string[]) =>
  JSON.parse((await done(...argv, '-o', 'json')).join('\n'));

describe('webhooks and deliveries', () => {
  it('should be added, tried, changed, rotated, paused and removed', async () => {
    const ca = file('ca.pem', receiver.caPem);
    const flags = ['--type', 'generic', '--name', 'on call', '--url', receiver.url()];
    const made = await cli.run('webhooks', 'create', ...flags, '--ca-file', ca, '-o', 'name');
    expect(made).toMatchObject({ code: EXIT.ok, out: [expect.stringMatching(/^[0-9a-f-]{36}$/)] });
    // The secret that was made is shown once, and not where a script reads the id.
    expect(made.err).toMatch(/secret/i);
    const [id = ''] = made.out;
    expect((await done('webhooks', 'list')).join('\n')).toMatch(/^ID +TYPE +NAME +STATE/m);
    expect(await done('webhooks', 'test', id)).toEqual([expect.stringMatching(/^\d+ ms$/)]);
    expect(receiver.received).toHaveLength(1);
    const quiet = ['--quiet', '22:00-07:00', '--quiet-zone', 'Europe/Berlin'];
    const changed = await json('webhooks', 'change', id, '--min-severity', 'high', ...quiet);
    expect(changed.options).toMatchObject({
      min_severity: 'high',
      quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' },
    });
    expect((await cli.run('webhooks', 'change', id, '--quiet', 'at night')).code).toBe(EXIT.usage);
    const rotated = await cli.run('webhooks', 'rotate-secret', id, '--overlap-hours', '2');
    expect(rotated.err).toMatch(/The old secret signs, too, until /);
    expect(await done('webhooks', 'pause', id)).toEqual([id]);
    expect((await json('webhooks', 'get', id)).is_paused).toBe(true);
    expect(await done('webhooks', 'resume', id)).toEqual([id]);
    expect((await cli.run('webhooks', 'get', randomUUID())).code).toBe(EXIT.notFound);
    expect(await done('webhooks', 'remove', id, '--yes')).toEqual([id]);
    expect(await json('webhooks', 'list')).toEqual([]);
  });

  it('should show an alert on its way, each attempt, and send it again', async () => {
    const ca = file('ca.pem', receiver.caPem);
    const flags = ['--type', 'generic', '--name', 'refuses', '--url', receiver.url()];
    const kind = ['--kind', 'security_event'];
    const made = await cli.run(
      'webhooks',
      'create',
      ...flags,
      ...kind,
      '--ca-file',
      ca,
      '-o',
      'name',
    );
    const [webhookId = ''] = made.out;
    receiver.answerWith({ status: 400, body: 'no' });
    const { fixture } = cli.live;
    const { nowMs } = fixture.state;
    const sensorId = fixture.addSensor(1);
    const finding = shellFinding({ index: 2, sensorId, nowMs, eventId: randomUUID() });
    await fixture.stored.relational.alerts.raise({ nowMs, findings: [finding] });
    const listed = () => json('deliveries', 'list', '--webhook-id', webhookId);
    await expect.poll(async () => (await listed())[0]?.state, { timeout: 15_000 }).toBe('dead');
    const [one] = await listed();
    const whole = await json('deliveries', 'get', one.delivery_id);
    expect(whole.tried).toMatchObject([{ number: 1, outcome: 'refused', status: 400 }]);
    expect((await done('deliveries', 'list')).join('\n')).toMatch(/^ID +KIND +NODE +STATE/m);
    receiver.answerWith({ status: 204 });
    expect(await done('deliveries', 'replay', one.delivery_id)).toEqual([one.delivery_id]);
    await expect.poll(async () => (await listed())[0].state, { timeout: 15_000 }).toBe('delivered');
    expect(await done('webhooks', 'replay-dead', webhookId)).toEqual(['0']);
    await done('webhooks', 'remove', webhookId, '--yes');
  });
});

describe('siem', () => {
  it('should be applied from a file by its name, tried, held, sent again and deleted', async () => {
    receiver.answerWith({ status: 200, body: '{}' });
    const plan = { kind: 'observe', name: 'lake', target_url: receiver.url('/v1/http') };
    const options = { ca_pem: receiver.caPem };
    const path = file('siem.yaml', stringify({ ...plan, filter: 'severity:high', options }));
    const token = ['--token-file', file('token', 'a-token\n')];
    const [id = ''] = await done('siem', 'apply', '--file', path, ...token, '-o', 'name');
    expect(await done('siem', 'apply', '--file', path, '-o', 'name')).toEqual([id]);
    expect((await done('siem', 'list')).join('\n')).toMatch(/^ID +KIND +NAME +STATE +LAG/m);
    expect(await done('siem', 'test', id)).toEqual([expect.stringMatching(/^\d+ ms$/)]);
    expect(receiver.received.at(-1)?.headers.authorization).toBe('Bearer a-token');
    expect(await done('siem', 'pause', id)).toEqual([id]);
    expect((await json('siem', 'get', id)).state).toBe('paused');
    expect(await done('siem', 'resume', id, '--from', 'now-2h')).toEqual([id]);
    expect(JSON.stringify(await json('siem', 'get', id))).not.toContain('a-token');
    expect((await cli.run('siem', 'apply', '--file', file('wrong.yaml', 'kind: ['))).code).not.toBe(
      0,
    );
    expect(await done('siem', 'delete', id, '--yes')).toEqual([id]);
    expect((await cli.run('siem', 'get', id)).code).toBe(EXIT.notFound);
  });
});

describe('digests', () => {
  it('should be applied from a file, previewed, sent as a test and deleted', async () => {
    const mail = await openMailReceiver('tls');
    try {
      const plan = {
        ...{ name: 'every morning', time_zone: 'Europe/Berlin', at: '07:30', ca_pem: mail.caPem },
        mail: {
          ...{ host: '127.0.0.1', port: mail.port, security: 'tls', username: null },
          ...{ sender: 'console@example.org', recipients: ['ada@example.org'] },
        },
      };
      const path = file('digest.yaml', stringify(plan));
      const [id = ''] = await done('digests', 'apply', '--file', path, '-o', 'name');
      expect(await done('digests', 'apply', '--file', path, '-o', 'name')).toEqual([id]);
      expect((await done('digests', 'list')).join('\n')).toMatch(/^ID +NAME +ON +AT +TO/m);
      expect((await done('digests', 'preview', id)).join('\n')).toMatch(/sensor/i);
      expect((await done('digests', 'preview', id, '--html')).join('\n')).toMatch(/<table/);
      mail.behave('refuse');
      expect((await cli.run('digests', 'test', id)).code).toBe(EXIT.failed);
      expect(await done('digests', 'delete', id, '--yes')).toEqual([id]);
    } finally {
      await mail.close();
    }
  });
});

describe('exports', () => {
  it('should be told where to go, try that, and refuse a day that is not over', async () => {
    expect((await cli.run('exports', 'target')).code).toBe(EXIT.failed);
    const target = file('target.yaml', stringify({ kind: 'directory', prefix: 'fleet' }));
    const put = await json('exports', 'apply', '--file', target);
    expect(put).toMatchObject({ kind: 'directory', prefix: 'fleet', is_on: true });
    expect((await done('exports', 'target')).join('\n')).toMatch(/^PREFIX +fleet$/m);
    expect(await done('exports', 'test')).toEqual([expect.any(String)]);
    const today = new Date(cli.live.fixture.state.nowMs).toISOString().slice(0, 10);
    const refused = await cli.run('exports', 'run', `runtime_events.${today}`);
    expect(refused.code).not.toBe(EXIT.ok);
    expect((await cli.run('exports', 'get', 'runtime_events.2026-01-31')).code).toBe(EXIT.notFound);
    expect((await cli.run('exports', 'list')).err).toContain('exports apply --file');
  });
});
