// What to do with the identity files a crash left. Both an enrollment and a renewal write in this order, each step
// durable before the next: next key (before the request), previous pair (renewal: a copy of the current one; enrollment:
// removed), next certificate (from here on the answer is safe), active key, active certificate, and the next ones are
// removed. So a next certificate that fits the next key is an answer to be finished. invariant: I13

/** The digest of a file's public key; `unreadable` for a file that is torn or foreign; null when absent. */
export type KeyFact = string | null;
export const UNREADABLE = 'unreadable';

export type IdentityFiles = {
  readonly key: KeyFact;
  readonly certificate: KeyFact;
  readonly previousKey: KeyFact;
  readonly previousCertificate: KeyFact;
  readonly nextKey: KeyFact;
  readonly nextCertificate: KeyFact;
};
export type IdentityFile = keyof IdentityFiles;

/** One durable step; `from` null removes the file. */
export type IdentityStep = { readonly to: IdentityFile; readonly from: IdentityFile | null };

export type IdentityVerdict = {
  /** Repairs, in order; the verdict holds once they are done. */
  readonly steps: readonly IdentityStep[];
} & (
  | { readonly kind: 'none' }
  | { readonly kind: 'whole'; readonly hasPrevious: boolean }
  | { readonly kind: 'broken'; readonly reason: string }
);

/** The steps that make the next pair the active one: key first, then certificate. invariant: I13 */
export const ADOPT_NEXT: readonly IdentityStep[] = [
  { to: 'key', from: 'nextKey' },
  { to: 'certificate', from: 'nextCertificate' },
  { to: 'nextCertificate', from: null },
  { to: 'nextKey', from: null },
];
/** The steps that keep the current pair for the overlap, before a renewal is adopted. */
export const KEEP_PREVIOUS: readonly IdentityStep[] = [
  { to: 'previousKey', from: 'key' },
  { to: 'previousCertificate', from: 'certificate' },
];
/** The steps that end the overlap. */
export const FORGET_PREVIOUS: readonly IdentityStep[] = [
  { to: 'previousCertificate', from: null },
  { to: 'previousKey', from: null },
];
/** The steps back to the previous pair. */
export const RESTORE_PREVIOUS: readonly IdentityStep[] = [
  { to: 'key', from: 'previousKey' },
  { to: 'certificate', from: 'previousCertificate' },
];

/** Judges the files. The verdict's steps may themselves be cut by a crash; judging again then goes on. */
export function judgeIdentityFiles(files: IdentityFiles): IdentityVerdict {
  if (fits(files.nextKey, files.nextCertificate)) {
    return { kind: 'whole', hasPrevious: hasPrevious(files, files.nextKey), steps: ADOPT_NEXT };
  }
  const active = activeSteps(files);
  const steps = [...dropStep(files.nextCertificate !== null, 'nextCertificate'), ...(active ?? [])];
  const key = steps.reduce(applyIdentityStep, files).key;
  const isNextUsed = files.nextKey === UNREADABLE || (active !== null && files.nextKey === key);
  steps.push(...dropStep(files.nextKey !== null && isNextUsed, 'nextKey'));
  if (active !== null) return { kind: 'whole', hasPrevious: hasPrevious(files, key), steps };
  if (files.key === null && files.certificate === null) return { kind: 'none', steps };
  return { kind: 'broken', reason: reasonOf(files), steps };
}

// The steps to an active pair that fits, best source first; null when there is none.
function activeSteps(files: IdentityFiles): readonly IdentityStep[] | null {
  if (fits(files.key, files.certificate)) return [];
  if (fits(files.nextKey, files.certificate)) return [{ to: 'key', from: 'nextKey' }];
  if (fits(files.previousKey, files.previousCertificate)) return RESTORE_PREVIOUS;
  if (fits(files.previousKey, files.certificate)) return [{ to: 'key', from: 'previousKey' }];
  return null;
}

function dropStep(isNeeded: boolean, file: IdentityFile): IdentityStep[] {
  return isNeeded ? [{ to: file, from: null }] : [];
}

/** Carries one step out on facts, as the disk does on files. */
export function applyIdentityStep(files: IdentityFiles, step: IdentityStep): IdentityFiles {
  return { ...files, [step.to]: step.from === null ? null : files[step.from] };
}

function fits(key: KeyFact, certificate: KeyFact): boolean {
  return key !== null && key !== UNREADABLE && key === certificate;
}

// A copy of the active pair is no fallback: it is what a renewal left that did not come to its certificate.
function hasPrevious(files: IdentityFiles, activeKey: KeyFact): boolean {
  return fits(files.previousKey, files.previousCertificate) && files.previousKey !== activeKey;
}

function reasonOf(files: IdentityFiles): string {
  if (files.key === null) return 'the certificate has no key: re-enroll';
  if (files.certificate === null) return 'the key has no certificate: re-enroll';
  if (files.key === UNREADABLE) return 'the key cannot be read: re-enroll';
  if (files.certificate === UNREADABLE) return 'the certificate cannot be read: re-enroll';
  return 'the certificate does not belong to the key: re-enroll';
}
