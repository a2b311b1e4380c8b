// Planted bugs that the first ordinary seeds do not find, by the profile whose seeds do, with nothing tuned.
import type { SubjectName } from '../subjects.ts';

export const FOUND_UNDER: Readonly<Record<SubjectName, readonly string[]>> = {
  renewals: [
    'overlap-a-minute-too-long',
    'overlap-a-second-too-long',
    'overlap-too-short',
    'previous-renews',
    'renewal-shown-late',
  ],
  identities: ['expired-token-enrols', 'revocation-forgotten', 'alert-ends-identity'],
  strangers: ['new-root-is-not-kept', 'retired-root-is-taken'],
  replicas: [
    'deaf-replica',
    'sure-while-cut-off',
    'doubt-is-taken-for-revocation',
    'gives-up-streaming',
    'license-in-memory',
  ],
  restores: ['file-wins-over-restored'],
  busy: [
    'spool-holds-one-more',
    'discarded-is-forgotten',
    'hour-keeps-its-first-loss',
    'losses-counted-twice',
    'gap-counts-for-nothing',
    'delta-on-a-poor-base',
    'images-that-went-stay',
    'attached-when-started',
    'settled-alert-opens',
  ],
};

/** The profile of the bug with this name; null when ordinary seeds find it, or none does. */
export function profileThatFinds(name: string): SubjectName | null {
  const found = Object.entries(FOUND_UNDER).find(([, names]) => names.includes(name));
  return found === undefined ? null : (found[0] as SubjectName);
}
