// What a planted bug has to be: found at its pinned seed by the checker that must find it. Those whose runs take long are
// named here and run with `npm run test:services`.
import { expect, it } from 'vitest';
import { runSimulation } from '../run.ts';
import { PLANTED } from './all.ts';
import { isFound, optionsFor } from './find.ts';

/** For a machine that is busy with other things; the longest takes some ten seconds of a core. */
const PATIENCE_MS = 600_000;

/** More than a second of a core each. */
export const SLOW: ReadonlySet<string> = new Set([
  'act-under-another-name',
  'acts-audited-twice',
  'acts-unaudited',
  'alerts-are-not-posted',
  'another-nodes-number-is-mine',
  'arrivals-are-not-read',
  'busy-is-taken-for-stored',
  'carried-without-number',
  'clone-goes-unnoticed',
  'crash-keeps-sending',
  'crossing-is-forgotten',
  'discarded-is-forgotten',
  'engine-starts-without-policies',
  'expired-certificate-serves',
  'expired-token-enrols',
  'flow-counts-again',
  'gap-counts-for-nothing',
  'gives-up-streaming',
  'half-is-whole',
  'hour-keeps-its-first-loss',
  'identity-counts-again',
  'idle-sessions-live',
  'judged-too-soon',
  'last-webhook-waits',
  'license-in-memory',
  'license-limits-nobody',
  'logged-out-here-only',
  'losses-counted-twice',
  'match-has-no-event',
  'match-is-left-out',
  'move-not-recorded',
  'new-root-is-not-kept',
  'older-pack-comes-back',
  'overlap-a-second-too-long',
  'refused-build-comes-back',
  'removed-lines-count-as-one',
  'retired-root-is-taken',
  'revoked-keys-open',
  'role-change-keeps-sessions',
  'routes-are-ignored',
  'sealer-gives-up',
  'search-sees-half',
  'sent-is-delivered',
  'sessions-from-memory',
  'settled-alert-opens',
  'sink-stays-closed',
  'spool-forgets-at-restart',
  'token-stays-open',
  'windows-are-halved',
  'windows-are-longer',
]);

/** Declares a test for each planted bug whose name is wanted. */
export function describeBugs(isWanted: (name: string) => boolean): void {
  for (const bug of PLANTED.filter(({ name }) => isWanted(name))) {
    it(`should be found by ${bug.foundBy}: ${bug.name}`, { timeout: PATIENCE_MS }, async () => {
      const options = optionsFor(bug, bug.pinnedSeed);

      const broken = await runSimulation(options, { bug });

      expect(broken.crashes).toEqual([]);
      expect(isFound(bug, broken), JSON.stringify(broken.violations)).toBe(true);
    });
  }
}
