import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNetworkNamespaces } from './network-namespaces.ts';
import { createSocketReader } from './sockets.ts';

let proc = '';
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), 'proc-'));
  put('self', '1');
});
afterEach(() => rmSync(proc, { recursive: true }));

/** A process that lives in this namespace, with one listener there. */
function put(pid: number | 'self', namespace: string, port?: number): void {
  const folder = join(proc, String(pid));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'ns'), { recursive: true });
  symlinkSync(`net:[${namespace}]`, join(folder, 'ns', 'net'));
  if (port === undefined) return;
  mkdirSync(join(folder, 'net'));
  const at = port.toString(16).toUpperCase().padStart(4, '0');
  writeFileSync(join(folder, 'net', 'tcp'), `head\n   0: 0100007F:${at} 00000000:0000 0A 0\n`);
}
const end = (pid: number) => rmSync(join(proc, String(pid)), { recursive: true });

describe('network namespaces', () => {
  it('should name each besides its own once, with a process that lives in it', () => {
    put(10, '1');
    put(20, '2');
    put(21, '2');
    put(30, '3');
    const found = createNetworkNamespaces(proc)();
    expect(found.map(({ id }) => id).sort()).toEqual(['2', '3']);
    expect([20, 21]).toContain(found.find(({ id }) => id === '2')?.pid);
  });

  it('should look a bounded number of times, and go on where it ended', () => {
    for (let at = 1; at <= 5; at += 1) put(at, `${100 + at}`);
    const look = createNetworkNamespaces(proc, 2);
    expect([look().length, look().length, look().length]).toEqual([2, 4, 5]);
  });

  it('should go on with another process when one ended, and forget a namespace without any', () => {
    put(20, '2');
    put(21, '2');
    const look = createNetworkNamespaces(proc);
    const first = look()[0]?.pid ?? 0;
    end(first);
    expect(look()).toEqual([{ id: '2', pid: first === 20 ? 21 : 20 }]);
    end(first === 20 ? 21 : 20);
    expect(look()).toEqual([]);
  });

  it('should not take the next process of the same number for the one it knew', () => {
    put(20, '2');
    const look = createNetworkNamespaces(proc);
    look();
    put(20, '3');
    expect(look()).toEqual([{ id: '3', pid: 20 }]);
  });

  it('should answer without a /proc', () => {
    expect(createNetworkNamespaces('/nowhere')()).toEqual([]);
  });
});

describe('sockets of several network namespaces', () => {
  it('should list them all, those of others with their namespace', async () => {
    mkdirSync(join(proc, 'net'));
    writeFileSync(join(proc, 'net', 'tcp'), 'head\n   0: 00000000:0016 00000000:0000 0A 0\n');
    put(20, '2', 8080);
    put(30, '3', 8080);
    const { listening_services } = await createSocketReader(proc)();
    expect(listening_services[0]).toEqual({ protocol: 'tcp', ip: '0.0.0.0', port: 22 });
    expect(
      listening_services.slice(1).map(({ port, network_namespace }) => [port, network_namespace]),
    ).toEqual(
      expect.arrayContaining([
        [8080, '2'],
        [8080, '3'],
      ]),
    );
    expect(listening_services).toHaveLength(3);
  });
});
