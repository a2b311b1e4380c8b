import { describe, expect, it } from 'vitest';
import { parserOfValue } from './parse.ts';
import {
  CHANNEL_HEADER,
  CHANNELS,
  Channel,
  Count,
  Flavor,
  INSTANCE_HEADER,
  InstanceId,
  NamedBy,
  NODE_NAME_PATTERN,
  SENSOR_SUBPROTOCOL,
  SEQUENCE_HEADER,
  Sequence,
  STREAM_HEADER,
  StreamId,
  Text,
  Timestamp,
  Uuid,
} from './scalars.ts';

type Schema = Parameters<typeof parserOfValue>[0];
const HEX_32 = '0123456789abcdef'.repeat(2);
const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const TIME = '2026-01-02T03:04:05';

function expectOnly(schema: Schema, fits: readonly unknown[], fitsNot: readonly unknown[]): void {
  const parse = parserOfValue(schema);
  expect(fits.filter((one) => !parse(one).ok)).toEqual([]);
  expect(fitsNot.filter((one) => parse(one).ok)).toEqual([]);
}

describe('wire scalars', () => {
  it('should bound text', () => {
    expectOnly(Text(3), ['', 'abc'], ['abcd', 7, null]);
  });

  it('should take whole numbers that JSON carries exactly', () => {
    for (const schema of [Sequence, Count]) {
      expectOnly(
        schema,
        [0, 1, Number.MAX_SAFE_INTEGER],
        [-1, 0.5, Number.MAX_SAFE_INTEGER + 1, '1', null],
      );
    }
  });

  it('should take UTC times with at most nine digits of a second', () => {
    expectOnly(
      Timestamp,
      [`${TIME}Z`, `${TIME}.1Z`, `${TIME}.123456789Z`],
      [
        TIME,
        `${TIME}+00:00`,
        `${TIME}.Z`,
        `${TIME}.1234567890Z`,
        ` ${TIME}Z`,
        `${TIME}Z\n`,
        `${TIME}Z Z`,
        `20261${TIME}Z`,
        TIME.replace('T', ' '),
        '',
      ],
    );
  });

  it('should take identifiers of exactly their form', () => {
    expectOnly(
      Uuid,
      [UUID],
      [UUID.toUpperCase(), `${UUID}0`, `0${UUID}`, UUID.replaceAll('-', ''), ''],
    );
    for (const schema of [StreamId, InstanceId]) {
      expectOnly(
        schema,
        [HEX_32],
        [HEX_32.toUpperCase(), `${HEX_32}0`, HEX_32.slice(1), `g${HEX_32.slice(1)}`, ''],
      );
    }
  });

  it('should take node names of letters, digits, dots, dashes and underscores', () => {
    const isName = (text: string) => new RegExp(NODE_NAME_PATTERN).test(text);
    const names = ['a', 'Z9', 'node-1.rack_2', 'a'.repeat(64)];
    const others = ['', '-a', 'a-', '.a', 'a b', 'a/b', 'a'.repeat(65), 'é', ' a'];
    expect(names.filter((one) => !isName(one))).toEqual([]);
    expect(others.filter(isName)).toEqual([]);
  });

  it('should bound the names of an object, their values and their number', () => {
    expectOnly(
      NamedBy(3, Count),
      [{}, { abc: 1 }, { 'a\n': 1 }, { a: 1, b: 2, c: 3 }],
      [{ abcd: 1 }, { 'a\nbc': 1 }, { a: 'x' }, { 'a\n': 'x' }],
    );
    expectOnly(NamedBy(3, Count, 2), [{ a: 1, b: 2 }], [{ a: 1, b: 2, c: 3 }, { abcd: 1 }]);
  });

  it('should keep the names that Sensors in the field send', () => {
    expect([SENSOR_SUBPROTOCOL, INSTANCE_HEADER, STREAM_HEADER]).toEqual([
      'service.stream.v1',
      'x-service-instance',
      'x-service-stream',
    ]);
    expect([SEQUENCE_HEADER, CHANNEL_HEADER]).toEqual(['x-service-sequence', 'x-service-channel']);
  });

  it('should know its words and no others', () => {
    expectOnly(Flavor, ['standard', 'telecom'], ['other', '']);
    expectOnly(Channel, ['stream', 'heartbeat', 'batch'], ['other', '']);
    expect(CHANNELS).toEqual(['stream', 'heartbeat', 'batch']);
  });
});
