// The promises of counted failures: shared, atomic, forgotten after their window.
import { describe, expect, it } from 'vitest';
import type { Harness } from './away.ts';
import type { PeoplePorts } from './people.ts';
import { hex, NOW_MS } from './samples.ts';

const windowMs = 1_000;
const PARALLEL = 60;
const TRIES = 5;

export function loginFailuresContract(harness: Harness<PeoplePorts>): void {
  const loginFailures = () => harness.port().loginFailures;
  const keys = () => [`account:${hex(6)}`, `address:${hex(6)}`];
  const waitMs = ({ failures }: { readonly failures: number }) => (failures < TRIES ? 0 : 77);

  describe('counted failures', () => {
    it('should count under every key, and begin anew a window after the last', async () => {
      const [a = '', b = ''] = keys();
      const note = (nowMs: number, of: readonly string[] = [a, b]) =>
        loginFailures().noteFailure({ keys: of, nowMs, windowMs });
      await note(NOW_MS);
      const twice = await note(NOW_MS + 900, [a, a, b]);
      expect(twice.map((one) => one.failures)).toEqual([2, 2]);
      expect(twice[0]).toMatchObject({ firstAtMs: NOW_MS, lastAtMs: NOW_MS + 900 });
      expect(await loginFailures().failuresOf([a], NOW_MS + 1_899, windowMs)).toMatchObject([
        { key: a, failures: 2 },
      ]);
      expect(await loginFailures().failuresOf([a], NOW_MS + 1_900, windowMs)).toEqual([]);
      expect(await note(NOW_MS + 1_900, [a])).toMatchObject([
        { failures: 1, firstAtMs: NOW_MS + 1_900 },
      ]);
      await loginFailures().forgetFailures([a, b, 'none\0']);
      expect(await loginFailures().failuresOf([a, b], NOW_MS + 1_900, windowMs)).toEqual([]);
    });

    it('should let no try slip past, however many come at once', async () => {
      const [a = '', b = ''] = keys();
      const take = (of: readonly string[]) =>
        loginFailures().takeTry({ keys: of, nowMs: NOW_MS, windowMs, waitMs });
      const waits = await Promise.all(
        Array.from({ length: PARALLEL }, (_, index) => take(index % 2 ? [a, b] : [b, a])),
      );
      expect(waits.filter((one) => one === 0).length).toBe(TRIES);
      expect(waits.filter((one) => one === 77).length).toBe(PARALLEL - TRIES);
      expect(await loginFailures().failuresOf([a], NOW_MS, windowMs)).toMatchObject([
        { failures: TRIES },
      ]);
      // A try that one key refuses is counted under none.
      const [c = ''] = keys();
      expect(await take([a, c])).toBe(77);
      expect(await loginFailures().failuresOf([c], NOW_MS, windowMs)).toEqual([]);
      await loginFailures().returnTry([a, c]);
      expect(await take([a, c])).toBe(0);
    });

    it('should make nobody wait for a day that a wrong clock wrote', async () => {
      const [a = ''] = keys();
      const note = (nowMs: number) => loginFailures().noteFailure({ keys: [a], nowMs, windowMs });
      for (let one = 0; one < TRIES; one += 1) await note(NOW_MS + 1_000 * windowMs);
      const take = (nowMs: number) =>
        loginFailures().takeTry({
          ...{ keys: [a], nowMs, windowMs },
          waitMs: ({ failures, lastAtMs }) =>
            failures < TRIES ? 0 : Math.min(77, Math.max(0, lastAtMs + 77 - nowMs)),
        });
      expect(await take(NOW_MS)).toBe(77);
      expect(await take(NOW_MS + 30)).toBe(47);
      expect(await take(NOW_MS + 77)).toBe(0);
      expect(await loginFailures().failuresOf([a], NOW_MS + 77, windowMs)).toMatchObject([
        { failures: TRIES + 1, lastAtMs: NOW_MS + 77 },
      ]);
    });

    it('should be counted exactly when many come at once', async () => {
      const [a = ''] = keys();
      const notes = Array.from({ length: PARALLEL }, () =>
        loginFailures().noteFailure({ keys: [a], nowMs: NOW_MS, windowMs }),
      );
      const counts = (await Promise.all(notes)).map(([one]) => one?.failures ?? 0);
      expect(counts.sort((x, y) => x - y)).toEqual(
        Array.from({ length: PARALLEL }, (_, index) => index + 1),
      );
    });

    it('should be swept when they are old', async () => {
      const [a = '', b = ''] = keys();
      await loginFailures().noteFailure({ keys: [a], nowMs: 5, windowMs });
      await loginFailures().noteFailure({ keys: [b], nowMs: NOW_MS, windowMs });
      expect(await loginFailures().sweepFailures(6)).toBeGreaterThanOrEqual(1);
      expect(await loginFailures().failuresOf([a], 6, windowMs)).toEqual([]);
      expect((await loginFailures().failuresOf([b], NOW_MS, windowMs)).length).toBe(1);
    });
  });
}
