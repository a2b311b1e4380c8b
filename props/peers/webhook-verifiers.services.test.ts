// What the page tells people to copy really verifies: the samples for Python and Node.js run as programs of their own over the
// bytes that a receiver got, before anything parsed them, and say no to every byte that was changed. invariant: I11;
// decision: D104
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SIGNATURE_SAMPLES } from '../../gateway/web/delivery/samples.ts';
import {
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from '../attacks/console.fixture.ts';
import { HOSTILE } from '../contracts/samples.ts';
import { openWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const LONG_MS = 120_000;
const run = promisify(execFile);
let receiver: WebhookReceiver;
let console: ConsoleUnderTest;
let folder = '';
let secret = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verifiers-'));
  receiver = await openWebhookReceiver();
  console = await startConsole();
  const key = (await console.newKey(['admin'])).secret;
  const headers = { authorization: `Bearer ${key}` };
  const [list] = console.settings.view().filter(({ name }) => name === 'webhook_allow_list');
  await console.settings.change({
    ...{ actor: 'test', values: { webhook_allow_list: ['127.0.0.1'] } },
    revisions: { webhook_allow_list: list?.revision ?? 0 },
  });
  const body = {
    ...{ webhook_type: 'generic', name: HOSTILE, target_url: receiver.url() },
    options: { ca_pem: receiver.caPem },
  };
  const made = await console.ask(null, '/api/v2/webhooks', body, { method: 'POST', headers });
  const { webhook, signing_secret } = made.body as {
    webhook: { webhook_id: string };
    signing_secret: string;
  };
  secret = signing_secret;
  const path = `/api/v2/webhooks/${webhook.webhook_id}/test`;
  await console.ask(null, path, {}, { method: 'POST', headers });
  await receiver.has(1);
  await writeFile(join(folder, 'verify.py'), pythonOf(SIGNATURE_SAMPLES['Python'] ?? ''));
  await writeFile(join(folder, 'verify.mjs'), nodeOf(SIGNATURE_SAMPLES['Node.js'] ?? ''));
}, LONG_MS);
afterAll(async () => {
  await console.stop();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
  await removeSharedKeys();
});

const pythonOf = (sample: string): string => `${sample}

import sys
secret, header, path = sys.argv[1:]
print("yes" if is_genuine(secret, open(path, "rb").read(), header) else "no")
`;
const nodeOf = (sample: string): string => `import { readFileSync } from 'node:fs';
${sample}
const [secret, header, path] = process.argv.slice(2);
console.log(isGenuine(secret, readFileSync(path), header) ? 'yes' : 'no');
`;

async function says(program: string, script: string, body: Buffer, header: string) {
  const path = join(folder, 'body');
  await writeFile(path, body);
  const { stdout } = await run(program, [join(folder, script), secret, header, path]);
  return stdout.trim();
}

describe('a receiver that copied a sample', () => {
  it.each([
    ['python3', 'verify.py'],
    [process.execPath, 'verify.mjs'],
  ])(
    'should take what the Console sent, and nothing that was changed: %s %s',
    async (program, script) => {
      const [{ body, headers } = { body: Buffer.alloc(0), headers: {} }] = receiver.received;
      const header = String((headers as Record<string, unknown>)['x-service-signature']);
      expect(header).toMatch(/^sha256=[0-9a-f]{64}$/);
      expect(await says(program, script, body, header)).toBe('yes');
      const changed = Buffer.from(body);
      changed[changed.length - 2] = (changed[changed.length - 2] ?? 0) ^ 1;
      expect(await says(program, script, changed, header)).toBe('no');
      // The same JSON in other bytes is another body.
      const again = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
      expect(await says(program, script, again, header)).toBe('no');
      expect(await says(program, script, body, '')).toBe('no');
      expect(await says(program, script, body, header.slice(0, -1))).toBe('no');
    },
    LONG_MS,
  );
});
