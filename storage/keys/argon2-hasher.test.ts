// Argon2id as it is really computed: its parameters, its bounds, and the event loop beside it.
import { hash } from '@node-rs/argon2';
import { describe, expect, it } from 'vitest';
import { PASSWORD_MEMORY_KIB, PASSWORD_PASSES } from '../../machines/limits.ts';
import { createArgon2Hasher } from './argon2-hasher.ts';

describe('argon2 hasher', () => {
  it('should make a salted hash of the cost that is asked for, and know the password again', async () => {
    const hasher = createArgon2Hasher();
    const [one, two] = [await hasher.hash('a pass word'), await hasher.hash('a pass word')];
    const parameters = `m=${PASSWORD_MEMORY_KIB},t=${PASSWORD_PASSES},p=1`;
    expect(one).toMatch(new RegExp(`^\\$argon2id\\$v=19\\$${parameters}\\$`));
    expect(one).not.toBe(two);
    expect(await hasher.verify(one, 'a pass word')).toBe(true);
    for (const wrong of ['a pass Word', 'a pass word ', '', 'a pass word\0']) {
      expect(await hasher.verify(one, wrong)).toBe(false);
    }
  });

  it('should cut nothing off and change nothing', async () => {
    const hasher = createArgon2Hasher();
    const long = 'ä😀'.repeat(500);
    const made = await hasher.hash(long);
    expect(await hasher.verify(made, long)).toBe(true);
    expect(await hasher.verify(made, `${long}x`)).toBe(false);
    expect(await hasher.verify(await hasher.hash('\u00e9'), 'e\u0301')).toBe(false);
  });

  it('should say which hashes cost too little today', async () => {
    const hasher = createArgon2Hasher();
    expect(hasher.isOutdated(await hasher.hash('x'))).toBe(false);
    expect(hasher.isOutdated(await hash('x', { memoryCost: 8_192, timeCost: 2 }))).toBe(true);
    expect(hasher.isOutdated(await hash('x', { memoryCost: 19_456, timeCost: 1 }))).toBe(true);
    expect(hasher.isOutdated(await hash('x', { memoryCost: 30_000, timeCost: 3 }))).toBe(false);
  });

  it('should answer busy at once when too much waits, and work again afterwards', async () => {
    const hasher = createArgon2Hasher({ runningMax: 1, waitingMax: 2 });
    const answers = Array.from({ length: 5 }, () => hasher.hash('x'));
    expect(await Promise.race(answers)).toBe('busy');
    const all = await Promise.all(answers);
    expect(all.filter((one) => one === 'busy').length).toBe(2);
    expect(await hasher.hash('x')).not.toBe('busy');
  });

  it('should leave the event loop free', async () => {
    const hasher = createArgon2Hasher();
    let turns = 0;
    let isDone = false;
    const work = Promise.all(Array.from({ length: 6 }, () => hasher.hash('x'))).then(() => {
      isDone = true;
    });
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    turn();
    await work;
    expect(turns).toBeGreaterThan(100);
  });
});
