// Seeds under one profile after the other.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drawOptions, PROFILES } from './options.ts';
import { drawByTurns, readProfiles } from './turns.ts';

const PLANT_SEEDS = join(import.meta.dirname, '../mutation/plant-seeds.ts');

it('should draw seeds under each profile in its turn', () => {
  expect([1, 2, 3, 4].map((at) => drawByTurns(at, ['smoke', 'storm', 'long'], 'a-'))).toEqual([
    drawOptions('a-1', 'smoke'),
    drawOptions('a-2', 'storm'),
    drawOptions('a-3', 'long'),
    drawOptions('a-4', 'smoke'),
  ]);
});

it('should take every profile there is by its name, and no other', () => {
  expect(readProfiles(PROFILES.join(','))).toEqual(PROFILES);
  expect(() => readProfiles('smoke,calm')).toThrow('there is no profile calm');
  expect(() => readProfiles('')).toThrow('there is no profile');
});

it('should be asked of the seeds of planted faults for any profile', () => {
  const said = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [PLANT_SEEDS, ...args], { encoding: 'utf8', stdio: 'pipe' });

  expect(said('0', 'storm,deliveries')).toBe('none of 0 seeds of storm, deliveries\n');
  expect(() => said('0', 'calm')).toThrow('there is no profile calm');
});
