import { describe, expect, it } from 'vitest';
import { parseTable } from './sockets.ts';

const HEAD = '  sl  local_address rem_address   st';
describe('sockets', () => {
  it('should read listeners and connections of both families, and leave out what does not fit', () => {
    const table = [
      HEAD,
      '   0: 0100007F:1F90 00000000:0000 0A 0',
      '   1: 0100007F:D3A4 0200000A:01BB 01 0',
      '   2: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0',
      '   3: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000200000A:0051 01 0',
      '   4: nonsense',
    ].join('\n');
    const { connections, listening_services } = parseTable(table);
    expect(listening_services).toEqual([
      { protocol: 'tcp', ip: '127.0.0.1', port: 8080 },
      { protocol: 'tcp', ip: '::1', port: 22 },
    ]);
    expect(
      connections.map(({ local_ip, remote_ip, remote_port }) => [local_ip, remote_ip, remote_port]),
    ).toEqual([
      ['127.0.0.1', '10.0.0.2', 443],
      ['127.0.0.1', '10.0.0.2', 81],
    ]);
  });
});
