import { describe, expect, it } from 'vitest';
import { type IdentityFiles, judgeIdentityFiles, UNREADABLE } from './identity-files.rules.ts';

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
