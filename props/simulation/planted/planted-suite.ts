// What a planted bug has to be: found by the checker that must find it, at its pinned seed or at one of the first few. Those
// whose runs take long are named here and run with `npm run test:services`.
import { expect, it } from 'vitest';
import { runSimulation } from '../run.ts';
import { PLANTED } from './all.ts';
import { isFound, optionsFor } from './find.ts';

/** For a machine that is busy with other things; the longest takes some ten seconds of a core. */
const PATIENCE_MS = 600_000;
/** A checker that needs more than these to notice the bug does not guard its promise. */
const SEEDS_MAX = 8;

/** More than a third of a second of a core each. */
export const SLOW: ReadonlySet<string> = new Set([
  'ack-before-commit',
  'act-under-another-name',
  'acts-audited-twice',
  'acts-unaudited',
  'alert-ends-identity',
  'alerts-are-not-posted',
  'another-nodes-number-is-mine',
  'arrivals-are-not-read',
  'busy-is-taken-for-stored',
  'carried-without-number',
  'clone-goes-unnoticed',
  'codes-count-twice',
  'containment-lifted-at-start',
  'crash-keeps-sending',
  'crossing-is-forgotten',
  'dead-without-a-word',
  'deaf-replica',
  'delta-on-a-poor-base',
  'discarded-is-forgotten',
  'doubt-is-taken-for-revocation',
  'engine-starts-without-policies',
  'errors-forgotten',
  'events-thinned',
  'expired-certificate-serves',
  'expired-sessions-live',
  'expired-token-enrols',
  'factor-is-not-asked',
  'file-wins-over-restored',
  'flow-counts-again',
  'flow-is-lost',
  'forgotten-habits-stay',
  'forgotten-identity-is-kept',
  'forgotten-revocation-stays',
  'gap-counts-for-nothing',
  'gives-up-streaming',
  'habit-is-lost',
  'habits-without-bound',
  'half-a-pack-in-force',
  'half-is-whole',
  'hour-keeps-its-first-loss',
  'identity-counts-again',
  'idle-sessions-live',
  'images-that-went-stay',
  'judged-too-soon',
  'keys-hold-the-role',
  'last-webhook-waits',
  'license-ends-untold',
  'license-in-memory',
  'license-limits-nobody',
  'logged-out-here-only',
  'losses-counted-twice',
  'match-has-no-event',
  'match-is-left-out',
  'move-not-recorded',
  'new-id-at-a-repeat',
  'new-root-is-not-kept',
  'older-pack-comes-back',
  'overlap-a-minute-too-long',
  'overlap-a-second-too-long',
  'overlap-too-short',
  'people-from-memory',
  'previous-renews',
  'refusal-forgotten-at-restart',
  'refusal-passes-the-gate',
  'refused-build-comes-back',
  'release-written-as-containment',
  'removed-lines-count-as-one',
  'renewal-shown-late',
  'results-are-lost',
  'retired-root-is-taken',
  'revocation-forgotten',
  'revocation-lost-at-restart',
  'revoked-keys-open',
  'role-change-keeps-sessions',
  'routes-are-ignored',
  'sealer-gives-up',
  'sealer-remembers-the-head',
  'search-sees-half',
  'sent-is-delivered',
  'session-for-a-certificate',
  'sessions-from-memory',
  'settings-never-go-back',
  'settled-alert-opens',
  'sink-forgets',
  'sink-stays-closed',
  'sockets-are-not-written',
  'spool-forgets-at-restart',
  'spool-holds-one-more',
  'stale-a-second-late',
  'sure-while-cut-off',
  'timers-pile-up',
  'token-stays-open',
  'turned-in-name-only',
  'windows-are-halved',
  'windows-are-longer',
]);

/** Declares a test for each planted bug whose name is wanted. */
export function describeBugs(isWanted: (name: string) => boolean): void {
  for (const bug of PLANTED.filter(({ name }) => isWanted(name))) {
    it(`should be found by ${bug.foundBy}: ${bug.name}`, { timeout: PATIENCE_MS }, async () => {
      const tried: string[] = [];
      for (const seed of seedsOf(bug)) {
        const broken = await runSimulation(optionsFor(bug, seed), { bug });
        expect(broken.crashes).toEqual([]);
        if (isFound(bug, broken)) break;
        tried.push(`seed ${seed}: ${broken.violations[0]?.checker ?? broken.outcome}`);
      }
      if (tried.length > 0) process.stdout.write(`${bug.name}, not found: ${tried.join(', ')}\n`);
      expect(tried.length, tried.join(', ')).toBeLessThan(SEEDS_MAX);
    });
  }
}

/** The pinned one first. A change of the product draws other accidents, and others find the bug then. */
function seedsOf({ pinnedSeed }: (typeof PLANTED)[number]): readonly string[] {
  const others = Array.from({ length: SEEDS_MAX }, (_, at) => String(at + 1));
  return [...new Set([pinnedSeed, ...others])].slice(0, SEEDS_MAX);
}
