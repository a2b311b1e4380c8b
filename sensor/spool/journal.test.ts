// The lines of the journal: each is read back as it was written, and anything else is damaged, never an error.
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EMPTY_SPOOL } from '../../machines/sensor/spool.rules.ts';
import {
  decodeLine,
  encodeChange,
  encodeEvent,
  encodeHeader,
  encodeSeal,
  sealChanges,
} from './journal.ts';

/** Without its newline, as the reader of lines has it. */
const read = (line: string) => decodeLine(Buffer.from(line.slice(0, -1)));
/** A line with the right checksum, whatever it says. */
function sealed(body: string): string {
  return `{"crc":"${crc32(body).toString(16).padStart(8, '0')}",${body}\n`;
}

describe('a line of the journal', () => {
  it('should be read back as the event that was written, under its index', () => {
    for (const index of [0, 9, Number.MAX_SAFE_INTEGER]) {
      const line = read(encodeEvent(index, '{"a":"ü"}'));
      expect(line).toEqual({ kind: 'event', index, json: Buffer.from('{"a":"ü"}') });
    }
  });

  it('should be read back as the header, the seal or the change that was written', () => {
    const header = { streamId: 'ab', state: EMPTY_SPOOL, cursor: { offset: 3 }, damaged: 2 };
    const seal = { from: 1, to: 3, drop: 0, cursor: null, hour: 4, lost: { engine_lost: 5 } };
    const change = { kind: 'drop', count: 7, hour: 8 } as const;
    expect(read(encodeHeader(header))).toEqual({ kind: 'header', header });
    expect(read(encodeSeal(seal))).toEqual({ kind: 'seal', seal });
    expect(read(encodeChange(change))).toEqual({ kind: 'change', change });
  });

  it('should give what an older header does not say', () => {
    const line = read(sealed('"spool":1,"stream_id":"cd","state":{"head":4,"tail":6}}'));
    const state = { ...EMPTY_SPOOL, head: 4, tail: 6 };
    expect(line).toEqual({
      kind: 'header',
      header: { streamId: 'cd', state, cursor: null, damaged: 0 },
    });
  });

  it('should say what a seal drops and loses, in its hour', () => {
    const seal = { from: 0, to: 2, drop: 3, cursor: null, hour: 4 };
    const dropped = { kind: 'drop', count: 3, hour: 4 };
    expect(sealChanges(seal)).toEqual([dropped]);
    expect(sealChanges({ ...seal, lost: { engine_lost: 1 } })).toEqual([
      dropped,
      { kind: 'lose', lost: { engine_lost: 1 }, hour: 4 },
    ]);
  });

  it.each([
    ['nothing', '\n'],
    ['a checksum alone', '{"crc":"00000000",\n'],
    ['less than a checksum', '{"crc":"0000\n'],
    ['an event without a value', sealed('"n":1}')],
    ['an event under no number', sealed('"n":x,"event":{}}')],
    ['an event under a negative number', sealed('"n":-1,"event":{}}')],
    ['an event under half a number', sealed('"n":1.5,"event":{}}')],
    ['an event under a number that no double holds', sealed('"n":9007199254740993,"event":{}}')],
    ['an event whose number has too many digits', sealed(`"n":${'0'.repeat(17)},"event":{}}`)],
    ['a header of another version', sealed('"spool":2,"stream_id":"ab"}')],
    ['something of no kind', sealed('"other":1}')],
    ['no JSON', sealed('"seal":{')],
  ])('should be damaged: %s', (_, line) => {
    expect(read(line)).toEqual({ kind: 'damaged' });
  });

  it('should be damaged with any one byte changed', () => {
    const line = Buffer.from(encodeEvent(12, '{"b":1}').slice(0, -1));
    for (let at = 0; at < line.length; at += 1) {
      const changed = Buffer.from(line);
      changed.writeUInt8(line.readUInt8(at) ^ 1, at);
      expect(decodeLine(changed)).toEqual({ kind: 'damaged' });
    }
  });

  it('should have a checksum of eight digits, also when the first are zero', () => {
    const texts = Array.from({ length: 200 }, (_, at) => encodeEvent(at, '{}'));
    expect(texts.every((text) => /^\{"crc":"[0-9a-f]{8}","n":/.test(text))).toBe(true);
    expect(texts.some((text) => text.startsWith('{"crc":"0'))).toBe(true);
  });
});
