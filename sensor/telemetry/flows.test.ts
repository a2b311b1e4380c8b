import { describe, expect, it } from 'vitest';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { createFlowTable } from './flows.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => new Date(NOW_MS + seconds * 1_000).toISOString();

function connect(ip: string, more: Partial<RuntimeEvent> = {}): RuntimeEvent {
  return {
    ...{ event_id: 'a'.repeat(32), schema_version: 1, severity: 'info', message: 'm' },
    ...{ observed_at: at(0), event_kind: 'network_connect' },
    process: { exec_id: 'x', pid: 1, binary: '/usr/bin/curl' },
    network: {
      ...{ protocol: 'tcp', direction: 'outbound', source_ip: '10.0.0.1', source_port: 40_000 },
      ...{ destination_ip: ip, destination_port: 443, domain: 'example.org' },
    },
    ...more,
  };
}

describe('flows', () => {
  it('should count connections of one program to one place together', () => {
    const table = createFlowTable();
    table.note(connect('192.0.2.7'), NOW_MS);
    table.note(connect('192.0.2.7', { occurrences: 4 }), NOW_MS + 2_000);
    table.note(connect('192.0.2.8'), NOW_MS);
    const { flows } = table.report();
    expect(flows.map(({ remote_ip, connections }) => [remote_ip, connections])).toEqual([
      ['192.0.2.7', 5],
      ['192.0.2.8', 1],
    ]);
  });

  it('should tell a flow until a report that held it is confirmed, and go on with what grew', () => {
    const table = createFlowTable();
    table.note(connect('192.0.2.7'), NOW_MS);
    const first = table.report();
    expect(table.report().flows).toEqual(first.flows);
    table.note(connect('192.0.2.7'), NOW_MS + 5_000);
    first.confirm();
    const second = table.report();
    expect(second.flows).toMatchObject([
      { connections: 2, first_seen_at: at(0), last_seen_at: at(5) },
    ]);
    second.confirm();
    expect(table.report().flows).toEqual([]);
  });

  it('should name the other side of an accepted connection, and the port it came to', () => {
    const table = createFlowTable();
    const network = { protocol: 'tcp', direction: 'inbound', source_ip: '192.0.2.9' } as const;
    const to = { ...network, destination_ip: '10.0.0.1', destination_port: 22 };
    table.note(connect('', { event_kind: 'network_accept', network: to }), NOW_MS);
    expect(table.report().flows).toMatchObject([
      { direction: 'inbound', remote_ip: '192.0.2.9', port: 22 },
    ]);
  });

  it('should let the one seen longest ago make way, and take nothing that is no connection', () => {
    const table = createFlowTable(2);
    for (const ip of ['a', 'b', 'a', 'c']) table.note(connect(ip), NOW_MS);
    expect(table.report().flows.map(({ remote_ip }) => remote_ip)).toEqual(['a', 'c']);
    const other = createFlowTable();
    other.note(connect('a', { event_kind: 'dns_query' }), NOW_MS);
    other.note({ ...connect('a'), network: undefined as never }, NOW_MS);
    expect(other.report().flows).toEqual([]);
  });
});
