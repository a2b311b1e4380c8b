import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EnrollRequest } from '../../machines/wire/enrollment.ts';
import { RuntimeEvent } from '../../machines/wire/event.ts';
import { EventsRequest, HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import { InventoryRequest } from '../../machines/wire/inventory.ts';
import { isShallow } from '../../machines/wire/json-depth.ts';
import { parseJson, parserOf, parserOfValue } from '../../machines/wire/parse.ts';
import { EventsFrame, HelloFrame } from '../../machines/wire/stream.ts';

const parsers = [
  EnrollRequest,
  EventsRequest,
  HeartbeatRequest,
  InventoryRequest,
  EventsFrame,
  HelloFrame,
].map((schema) => parserOf(schema));

describe('wire', () => {
  it('never throws on any text or JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json({ maxDepth: 6 })), (text) => {
        for (const parse of parsers) {
          const result = parse(text);
          if (!result.ok) expect(['malformed_body', 'schema_violation']).toContain(result.code);
        }
      }),
    );
  });

  it('refuses deep nesting without parsing it, and is not fooled by brackets in strings', () => {
    expect(parseJson('['.repeat(5_000) + ']'.repeat(5_000))).toMatchObject({
      ok: false,
      code: 'malformed_body',
    });
    expect(isShallow(JSON.stringify('['.repeat(5_000)))).toBe(true);
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(isShallow(text)).toBe(depthOf(JSON.parse(text)) <= 32);
      }),
    );
  });

  it('ignores unknown fields and names the ones that do not fit', () => {
    const event = {
      event_id: '0'.repeat(32),
      schema_version: 1,
      observed_at: '2026-01-02T03:04:05.123456789Z',
      event_kind: 'process_exec',
      severity: 'info',
      message: 'ran',
      from_the_future: { x: 1 },
    };
    const parse = parserOfValue(RuntimeEvent);
    expect(parse(event).ok).toBe(true);
    const wrong = parse({ ...event, severity: 'warning' });
    expect(!wrong.ok && wrong.errors?.[0]?.pointer).toBe('/severity');
  });
});

function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
