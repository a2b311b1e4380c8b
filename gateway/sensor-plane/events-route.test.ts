// A batch of lines with its number in headers: exactly what the same batch says as one JSON document.
import { describe, expect, it } from 'vitest';
import { EVENTS_LINES_MAX } from '../../machines/limits.ts';
import { CHANNEL_HEADER, SEQUENCE_HEADER, STREAM_HEADER } from '../../machines/wire/scalars.ts';
import { mediaTypeOf } from './admission.ts';
import { busyRefusal, parseLines } from './events-route.ts';

const STREAM_ID = '2'.repeat(32);
const event = {
  ...{ event_id: '3'.repeat(32), schema_version: 1, event_kind: 'process_exec' },
  ...{ observed_at: '2026-01-01T00:00:00.000Z', severity: 'info', message: 'it ran' },
};
const LINE = JSON.stringify(event);
const headers = (sequence: string | null, channel?: string) =>
  new Map([
    [STREAM_HEADER, STREAM_ID],
    ...(sequence === null ? [] : [[SEQUENCE_HEADER, sequence] as const]),
    ...(channel === undefined ? [] : [[CHANNEL_HEADER, channel] as const]),
  ]);

describe('a batch of lines', () => {
  it('should be read with and without a last newline, and with its channel', () => {
    const value = { stream_id: STREAM_ID, sequence: 7, events: [event, event] };
    expect(parseLines(`${LINE}\n${LINE}`, headers('7'))).toEqual({ ok: true, value });
    expect(parseLines(`${LINE}\n${LINE}\n`, headers('7', 'batch'))).toEqual({
      ...{ ok: true, value: { ...value, channel: 'batch' } },
    });
  });

  it('should have a number of up to sixteen digits', () => {
    for (const text of ['12', String(Number.MAX_SAFE_INTEGER)]) {
      expect(parseLines(LINE, headers(text))).toMatchObject({ value: { sequence: Number(text) } });
    }
  });

  it.each([null, '', '-1', '1.5', '7x', 'x7', ' 7', '1e3', '12345678901234567'])(
    'should have a number of digits alone: %s',
    (sequence) =>
      expect(parseLines(LINE, headers(sequence))).toMatchObject({
        ...{ ok: false, code: 'schema_violation' },
      }),
  );

  it('should be told which line is no JSON', () => {
    const parsed = parseLines(`${LINE}\n\n${LINE}`, headers('7'));
    expect(parsed).toMatchObject({ ok: false, code: 'malformed_body' });
    expect(parsed.ok ? '' : parsed.detail).toMatch(/^Line 2: ./);
  });

  it('should hold so many lines and no more, whatever they are', () => {
    const lines = (count: number) => parseLines('{}\n'.repeat(count), headers('7'));
    expect(lines(EVENTS_LINES_MAX + 1)).toMatchObject({
      ...{ ok: false, code: 'schema_violation' },
      detail: `A batch holds at most ${EVENTS_LINES_MAX} events.`,
    });
    const most = lines(EVENTS_LINES_MAX);
    expect(most.ok ? '' : most.detail).not.toContain('at most');
  });

  it('should be refused with a time to come back while the store is away', () => {
    expect(busyRefusal(9)).toMatchObject({
      ...{ ok: false, code: 'store_unavailable', retryAfterMs: 9 },
      detail: 'The event store cannot take this batch now.',
    });
  });
});

describe('the media type of a request', () => {
  it('should be without parameters and case', () => {
    const of = (type?: string) => mediaTypeOf(new Map(type ? [['content-type', type]] : []));
    expect(of(' Application/JSON ; charset=utf-8')).toBe('application/json');
    expect([of('application/x-ndjson'), of()]).toEqual(['application/x-ndjson', '']);
  });
});
