import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { REPORTED_SOCKETS_MAX } from '../../machines/limits.ts';
import { createSocketOwners } from './socket-owners.ts';
import { createSocketReader, parseTable, socketsOf } from './sockets.ts';

const HEAD = '  sl  local_address rem_address   st';
const at = (inode: number) => `00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0`;

const folders: string[] = [];
afterEach(() => {
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true });
});
/** A /proc of processes that hold sockets. */
function procOf(holders: Readonly<Record<number, readonly number[]>>): string {
  const proc = mkdtempSync(join(tmpdir(), 'proc-'));
  folders.push(proc);
  for (const [pid, inodes] of Object.entries(holders)) put(proc, Number(pid), inodes);
  return proc;
}
function put(proc: string, pid: number, inodes: readonly number[], binary = `/bin/${pid}`): void {
  rmSync(join(proc, `${pid}`), { recursive: true, force: true });
  mkdirSync(join(proc, `${pid}`, 'fd'), { recursive: true });
  symlinkSync(binary, join(proc, `${pid}`, 'exe'));
  for (const [fd, inode] of inodes.entries()) {
    symlinkSync(`socket:[${inode}]`, join(proc, `${pid}`, 'fd', `${fd}`));
  }
}

describe('sockets', () => {
  it('should read listeners and connections of both families, and leave out what does not fit', () => {
    const table = [
      HEAD,
      `   0: 0100007F:1F90 00000000:0000 0A ${at(7)}`,
      '   1: 0100007F:D3A4 0200000A:01BB 01 0',
      '   2: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0',
      '   3: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000200000A:0051 01 0',
      '   4: 0100007F:D3A5 0200000A:01BB 06 0',
      '   5: 0100007:D3A5 0200000A:01BB 01 0',
      '   6: nonsense',
    ].join('\n');
    const owners = new Map([['7', { pid: 70, binary: '/bin/served' }]]);
    const { connections, listening_services } = socketsOf(parseTable(table), owners);
    expect(listening_services).toEqual([
      { protocol: 'tcp', ip: '127.0.0.1', port: 8080, pid: 70, binary: '/bin/served' },
      { protocol: 'tcp', ip: '::1', port: 22 },
    ]);
    expect(
      connections.map(({ local_ip, remote_ip, remote_port }) => [local_ip, remote_ip, remote_port]),
    ).toEqual([
      ['127.0.0.1', '10.0.0.2', 443],
      ['127.0.0.1', '10.0.0.2', 81],
    ]);
  });

  it('should keep some of every program when one has too many, and say how many there are', () => {
    const row = (inode: number) => `   0: 0100007F:1F90 0200000A:01BB 01 ${at(inode)}`;
    const flood = Array.from({ length: REPORTED_SOCKETS_MAX + 100 }, (_, n) => row(n + 1));
    const owners = new Map(flood.map((_, n) => [`${n + 1}`, { pid: 1, binary: '/bin/flood' }]));
    owners.set('90000', { pid: 2, binary: '/bin/quiet' });
    const rows = parseTable([HEAD, ...flood, row(90_000), row(90_001)].join('\n'));
    const { connections, listening_services, totals } = socketsOf(rows, owners);
    expect(connections).toHaveLength(REPORTED_SOCKETS_MAX);
    expect(new Set(connections.map(({ binary }) => binary))).toEqual(
      new Set(['/bin/flood', '/bin/quiet', undefined]),
    );
    expect(totals).toEqual({ connections: REPORTED_SOCKETS_MAX + 102 });
    expect(listening_services).toEqual([]);
    expect(socketsOf(rows.slice(0, 9), owners).totals).toBe(undefined);
  });

  it('should name the program of a listener of this process, as the kernel tells it', async () => {
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { listening_services } = await createSocketReader()();
    server.close();
    expect(listening_services.find((one) => one.port === port)).toMatchObject({
      ip: '127.0.0.1',
      pid: process.pid,
      binary: process.execPath,
    });
  });
});

describe('socket owners', () => {
  it('should look a bounded number of times, go on where it ended, and look for nothing twice', async () => {
    const proc = procOf({ 1: [11, 12], 2: [21, 22], 3: [31, 32] });
    const owners = createSocketOwners(proc, 3);
    const pids = async (inodes: readonly string[]) =>
      [...(await owners.find(inodes)).values()].map(({ pid }) => pid).sort();
    const all = ['11', '21', '31'];
    expect(await pids(all)).toHaveLength(1);
    for (let look = 0; look < 6; look += 1) await pids(all);
    expect(await pids(all)).toEqual([1, 2, 3]);
    rmSync(join(proc, '2', 'fd'), { recursive: true });
    expect(await pids(all)).toEqual([1, 2, 3]);
    expect(await pids(['31'])).toEqual([3]);
  });

  it('should forget a holder that ended or became another program', async () => {
    const proc = procOf({ 1: [11], 2: [21] });
    const owners = createSocketOwners(proc);
    await owners.find(['11', '21']);
    put(proc, 1, [11], '/bin/other');
    rmSync(join(proc, '2'), { recursive: true });
    expect([...(await owners.find(['11', '21']))]).toEqual([
      ['11', { pid: 1, binary: '/bin/other' }],
    ]);
  });

  it('should give up a socket that two rounds did not find, and find it again under a new number', async () => {
    const proc = procOf({ 1: [11] });
    const owners = createSocketOwners(proc);
    for (let look = 0; look < 4; look += 1) expect([...(await owners.find(['99']))]).toEqual([]);
    put(proc, 5, [99, 100]);
    expect([...(await owners.find(['99']))]).toEqual([]);
    expect([...(await owners.find(['100']))].map(([inode]) => inode)).toEqual(['100']);
  });

  it('should answer without a /proc', async () => {
    expect([...(await createSocketOwners('/nowhere').find(['1']))]).toEqual([]);
  });
});
