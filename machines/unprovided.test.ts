import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { unprovided, unprovidedActor } from './unprovided.ts';

describe('unprovided slots', () => {
  it('should throw with the name of the effect', () => {
    expect(() => unprovided('tellLost')({}, undefined)).toThrow('effect "tellLost"');
  });

  it('should fail with the name of the actor', async () => {
    const actor = createActor(unprovidedActor('readClock'));
    const error = new Promise<unknown>((resolve) => actor.subscribe({ error: resolve }));
    actor.start();
    expect(String(await error)).toContain('actor "readClock"');
  });
});
