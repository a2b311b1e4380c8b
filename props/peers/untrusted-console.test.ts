// Who answers in the Console's place: another CA behind a proxy, a leaf that the pinned CA never issued, an answer without
// an end. The Sensor's real transport over real TLS. decision: D10
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps, type Server } from 'node:https';
import { type AddressInfo, connect, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HEARTBEAT_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { createConsoleClient } from '../../sensor/transport/console-client.ts';
import {
  certificatesIn,
  fetchPinnedCa,
  parseFingerprint,
} from '../../sensor/transport/pinned-ca.ts';
import { openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';

const folders: string[] = [];
let own: Awaited<ReturnType<typeof authority>>;
let other: Awaited<ReturnType<typeof authority>>;
let server: Server;
let proxy: TcpServer;
let url: URL;
let proxyUrl: URL;
let shown = '';
let sent = 0;

async function authority() {
  const folder = mkdtempSync(join(tmpdir(), 'untrusted-'));
  folders.push(folder);
  const opened = await openCertificateAuthority({ folder, nowMs: Date.now() });
  if (!opened.ok) throw new Error(opened.reason);
  const { rootsPem } = opened.authority;
  const leaf = await opened.authority.issueServerCertificate(['localhost'], Date.now());
  const [root] = certificatesIn(rootsPem);
  return { rootsPem, leaf, fingerprint: parseFingerprint(root?.fingerprint256 ?? '') ?? '' };
}

beforeAll(async () => {
  [own, other] = [await authority(), await authority()];
  server = createHttps({ key: own.leaf.keyPem, cert: own.leaf.pem }, (request, response) => {
    if (request.url === '/ca.pem') return void response.end(shown);
    if (request.url !== '/endless') return void response.end('{}');
    const chunk = Buffer.alloc(65_536, ' ');
    const more = (): void => {
      while (!response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
    };
    response.on('error', () => undefined);
    more();
  });
  proxy = createHttp().on('connect', (request, socket) => {
    const to = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      to.pipe(socket).pipe(to);
    });
    for (const end of [to, socket]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  url = new URL(`https://localhost:${(server.address() as AddressInfo).port}`);
  proxyUrl = new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  proxy.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const clientWith = (caPem: string, through: URL | null) =>
  createConsoleClient({
    ...{ baseUrl: url, instanceId: '1'.repeat(32), proxyUrl: through },
    identity: { keyPem: null, certPem: null, caPem },
  });

describe('a Console that is not the pinned one', () => {
  it('should get no request, directly or through a proxy', async () => {
    for (const through of [null, proxyUrl]) {
      const trusting = clientWith(own.rootsPem, through);
      expect(await trusting.get('/', 20_000)).toMatchObject({ ok: true });
      trusting.close();
      const distrusting = clientWith(other.rootsPem, through);
      const answer = await distrusting.get('/', 20_000);
      expect(answer).toMatchObject({ ok: false, trouble: { kind: 'console_not_trusted' } });
      distrusting.close();
    }
  });

  it('should not be believed because it shows the pinned CA: its own certificate must be by it', async () => {
    for (const through of [null, proxyUrl]) {
      shown = other.rootsPem;
      const foreign = await fetchPinnedCa(url, other.fingerprint, through);
      expect(foreign).toMatchObject({ ok: false, isReachable: true });
      expect(foreign.ok ? '' : foreign.reason).toContain('not issued by the pinned CA');
      shown = own.rootsPem;
      expect(await fetchPinnedCa(url, own.fingerprint, through)).toMatchObject({ ok: true });
    }
  });

  it('should not fill the memory with an answer that never ends', async () => {
    const client = clientWith(own.rootsPem, null);
    const answer = await client.get('/endless', 60_000);
    expect(answer).toMatchObject({ ok: false, kind: 'unreachable' });
    client.close();
    // What lies in the sockets' buffers comes on top.
    expect(sent).toBeGreaterThan(HEARTBEAT_BODY_MAX_BYTES);
    expect(sent).toBeLessThan(HEARTBEAT_BODY_MAX_BYTES + 32 * 1_048_576);
  });
});
