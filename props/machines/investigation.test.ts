// An investigation is somebody's, or open for anybody; a closed one is changed by nobody. Its archive is judged by what is
// in it alone. decision: D143; invariant: I8
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ARCHIVE_FORMAT,
  faultOf,
  manifestIn,
} from '../../machines/console/hunting/archive.rules.ts';
import {
  INVESTIGATION_OUTCOMES,
  type InvestigationEvent,
  investigationMachine,
} from '../../machines/console/hunting/investigation.machine.ts';
import {
  investigationAfter,
  newInvestigation,
  takesItems,
} from '../../machines/console/hunting/investigation.ts';
import { filesInTar, tarOf } from '../../machines/console/hunting/tar.ts';
import { describeMachineLaws } from './laws.ts';

const who = fc.constantFrom('user:a', 'user:b', 'api-key:c');
const event: fc.Arbitrary<InvestigationEvent> = fc.oneof(
  fc.record({ type: fc.constant('investigation.taken' as const), by: who }),
  fc.record({ type: fc.constant('investigation.handed_over' as const), by: who, to: who }),
  fc.record({
    type: fc.constant('investigation.closed' as const),
    atMs: fc.nat(),
    outcome: fc.constantFrom(...INVESTIGATION_OUTCOMES),
  }),
  fc.record({ type: fc.constant('investigation.reopened' as const) }),
);

describeMachineLaws({
  name: 'investigation',
  machine: investigationMachine,
  input: fc.constant(undefined),
  events: event,
});

describe('an investigation', () => {
  it('always has an outcome exactly while it is closed, and somebody while it is looked at', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let standing = newInvestigation;
        for (const one of events) {
          const next = investigationAfter(standing, one);
          if (standing.state === 'closed' && one.type !== 'investigation.reopened') {
            expect(next).toBeNull();
          }
          standing = next ?? standing;
          expect(standing.outcome !== null).toBe(standing.state === 'closed');
          expect(standing.closedAtMs !== null).toBe(standing.state === 'closed');
          expect(takesItems(standing)).toBe(standing.state !== 'closed');
          expect(standing.handedOverBy !== null).toBe(standing.state === 'handed_over');
          if (standing.state === 'in_progress' || standing.state === 'handed_over') {
            expect(standing.assignee).not.toBeNull();
          }
        }
      }),
    );
  });
});

describe('the tar of an archive', () => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,40}$/);
  const files = fc.uniqueArray(fc.record({ name, content: fc.uint8Array({ maxLength: 1_500 }) }), {
    selector: (file) => file.name,
    maxLength: 6,
  });

  it('is always read as it was written', () => {
    fc.assert(
      fc.property(files, (all) => {
        const read = filesInTar(tarOf('folder', all, 1_000), 10);
        expect(read?.map((file) => [file.name, [...file.content]])).toEqual(
          all.map((file) => [file.name, [...file.content]]),
        );
      }),
    );
  });

  it('never is read with more files than may be, and never throws on other bytes', () => {
    const two = ['a', 'b'].map((one) => ({ name: one, content: new Uint8Array(3) }));
    expect(filesInTar(tarOf('folder', two, 0), 1)).toBeNull();
    fc.assert(
      fc.property(files, fc.nat(), fc.nat({ max: 255 }), (all, at, byte) => {
        const tar = tarOf('folder', all, 0);
        tar[at % tar.length] = byte;
        filesInTar(tar, 10);
        filesInTar(tar.subarray(0, at % tar.length), 10);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        filesInTar(bytes, 10);
      }),
    );
  });

  it('never is read with a folder, a link or a way out', () => {
    const file = { name: 'a', content: new Uint8Array() };
    for (const folder of ['..', 'x/y']) {
      const read = filesInTar(tarOf(folder, [file], 0), 10);
      expect(read === null || read.every((one) => !one.name.includes('/'))).toBe(true);
    }
    expect(filesInTar(tarOf('x/y', [file], 0), 10)).toBeNull();
  });
});

describe('a manifest', () => {
  const sha256 = 'a'.repeat(64);
  const manifest = (name: string, more: object = {}) =>
    JSON.stringify({
      ...{ format: ARCHIVE_FORMAT, investigation_id: 'i', name: 'n', exported_at: 't' },
      ...{ exported_by: 'u', files: [{ name, bytes: 1, sha256 }], ...more },
    });

  it('is always one of this format with plain names, or none', () => {
    expect(manifestIn(manifest('a.txt'))).not.toBeNull();
    for (const name of ['../a', '/a', 'A', '', 'manifest.json', 'a/b', 'a\u0000']) {
      expect(manifestIn(manifest(name))).toBeNull();
    }
    expect(manifestIn(manifest('a', { format: 'other' }))).toBeNull();
    fc.assert(fc.property(fc.oneof(fc.json(), fc.string()), (text) => manifestIn(text) === null));
  });

  it('never is satisfied by another file, a changed one, or one too many', () => {
    const read = manifestIn(manifest('a.txt'));
    if (read === null) return expect.fail('it is one');
    const there = { bytes: 1, sha256 };
    expect(faultOf(read, new Map([['a.txt', there]]))).toBeNull();
    expect(faultOf(read, new Map())).toContain('missing');
    expect(faultOf(read, new Map([['a.txt', { ...there, bytes: 2 }]]))).toContain('changed');
    const more = new Map([...[['a.txt', there] as const], ['b.txt', there] as const]);
    expect(faultOf(read, more)).toContain('not in the manifest');
  });
});
