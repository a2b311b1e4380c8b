import { describe, expect, it } from 'vitest';
import {
  FORGET_PREVIOUS,
  type IdentityFiles,
  judgeIdentityFiles,
  KEEP_PREVIOUS,
  UNREADABLE,
} from './identity-files.rules.ts';

const NOTHING: IdentityFiles = {
  key: null,
  certificate: null,
  previousKey: null,
  previousCertificate: null,
  nextKey: null,
  nextCertificate: null,
};
const judge = (files: Partial<IdentityFiles>) => judgeIdentityFiles({ ...NOTHING, ...files });

describe('judgeIdentityFiles', () => {
  it('should find none when there is at most a kept key', () => {
    expect(judge({})).toEqual({ kind: 'none', steps: [] });
    expect(judge({ nextKey: 'b' })).toEqual({ kind: 'none', steps: [] });
  });

  it('should find a whole identity and leave the key of an unfinished renewal', () => {
    const verdict = judge({ key: 'a', certificate: 'a', nextKey: 'b' });
    expect(verdict).toEqual({ kind: 'whole', hasPrevious: false, steps: [] });
  });

  it('should finish an answer whose certificate fits the kept key', () => {
    const verdict = judge({ key: 'a', certificate: 'a', nextKey: 'b', nextCertificate: 'b' });
    expect(verdict.steps[0]).toEqual({ to: 'key', from: 'nextKey' });
    expect(verdict.kind).toBe('whole');
  });

  it('should demand re-enrollment when the active pair does not fit and nothing is kept', () => {
    expect(judge({ key: 'b', certificate: 'a' }).kind).toBe('broken');
    expect(judge({ key: 'b' }).kind).toBe('broken');
    expect(judge({ certificate: 'b' }).kind).toBe('broken');
    expect(judge({ key: UNREADABLE, certificate: UNREADABLE }).kind).toBe('broken');
  });

  it('should fall back to the previous pair when the active one does not fit', () => {
    const previous = { previousKey: 'a', previousCertificate: 'a' };
    const verdict = judge({ key: 'b', certificate: UNREADABLE, ...previous });
    expect(verdict).toMatchObject({ kind: 'whole', hasPrevious: false });
  });
});

describe('the steps of judgeIdentityFiles', () => {
  const RESTORED = [
    { to: 'key', from: 'previousKey' },
    { to: 'certificate', from: 'previousCertificate' },
  ];
  const whole = (hasPrevious: boolean, ...steps: object[]) => ({
    kind: 'whole',
    hasPrevious,
    steps,
  });

  it('should adopt an answer in the order a crash may cut anywhere', () => {
    const adopted = [
      { to: 'key', from: 'nextKey' },
      { to: 'certificate', from: 'nextCertificate' },
      { to: 'nextCertificate', from: null },
      { to: 'nextKey', from: null },
    ];
    const next = { nextKey: 'b', nextCertificate: 'b' };
    expect(judge({ key: 'a', certificate: 'a', ...next })).toEqual(whole(false, ...adopted));
    const previous = { previousKey: 'a', previousCertificate: 'a' };
    expect(judge({ ...previous, ...next })).toEqual(whole(true, ...adopted));
    const same = { previousKey: 'b', previousCertificate: 'b' };
    expect(judge({ ...same, ...next })).toEqual(whole(false, ...adopted));
  });

  it('should drop a next certificate that fits no key, and the next key only once it is used', () => {
    const pair = { key: 'a', certificate: 'a' };
    const dropCertificate = { to: 'nextCertificate', from: null };
    const dropKey = { to: 'nextKey', from: null };
    expect(judge({ ...pair, nextKey: 'b', nextCertificate: 'c' })).toEqual(
      whole(false, dropCertificate),
    );
    expect(judge({ ...pair, nextKey: 'a' })).toEqual(whole(false, dropKey));
    expect(judge({ ...pair, nextKey: UNREADABLE })).toEqual(whole(false, dropKey));
    expect(judge({ ...pair, nextKey: UNREADABLE, nextCertificate: UNREADABLE })).toEqual(
      whole(false, dropCertificate, dropKey),
    );
    expect(judge({ key: 'b', certificate: 'a', nextKey: 'b' })).toMatchObject({
      kind: 'broken',
      steps: [],
    });
    expect(judge({ nextCertificate: 'b' })).toEqual({ kind: 'none', steps: [dropCertificate] });
    expect(judge({ nextKey: UNREADABLE })).toEqual({ kind: 'none', steps: [dropKey] });
  });

  it('should make a pair from the best source there is', () => {
    expect(judge({ key: 'z', certificate: 'b', nextKey: 'b' })).toEqual(
      whole(false, { to: 'key', from: 'nextKey' }, { to: 'nextKey', from: null }),
    );
    const previous = { previousKey: 'a', previousCertificate: 'a' };
    expect(judge(previous)).toEqual(whole(false, ...RESTORED));
    expect(judge({ ...previous, key: 'b', certificate: 'c' })).toEqual(whole(false, ...RESTORED));
    expect(judge({ certificate: 'a', previousKey: 'a', previousCertificate: 'z' })).toEqual(
      whole(false, { to: 'key', from: 'previousKey' }),
    );
    expect(judge({ ...previous, key: 'b', certificate: 'b' })).toEqual(whole(true));
  });

  it.each([
    [null, 'a', 'the certificate has no key'],
    ['a', null, 'the key has no certificate'],
    [UNREADABLE, 'a', 'the key cannot be read'],
    ['a', UNREADABLE, 'the certificate cannot be read'],
    ['a', 'b', 'the certificate does not belong to the key'],
  ])('should say of key %s and certificate %s: %s', (key, certificate, reason) => {
    expect(judge({ key, certificate })).toEqual({
      kind: 'broken',
      reason: `${reason}: re-enroll`,
      steps: [],
    });
  });

  it('should name the two orders that a renewal and the end of its overlap write in', () => {
    expect(KEEP_PREVIOUS).toEqual([
      { to: 'previousKey', from: 'key' },
      { to: 'previousCertificate', from: 'certificate' },
    ]);
    expect(FORGET_PREVIOUS).toEqual([
      { to: 'previousCertificate', from: null },
      { to: 'previousKey', from: null },
    ]);
  });
});
