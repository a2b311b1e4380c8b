// Seeds as they are drawn, under one profile after the other.
import { drawOptions, type Options, PROFILES, type Profile } from './options.ts';

/** The profile of the seed with this number, counted from 1. */
export function profileOf(number: number, profiles: readonly Profile[]): Profile {
  const profile = profiles[(number - 1) % profiles.length];
  if (profile === undefined) throw new Error('no profile is given');
  return profile;
}

/** The options of the seed with this number; `prefix` begins its name. */
export function drawByTurns(number: number, profiles: readonly Profile[], prefix = ''): Options {
  return drawOptions(`${prefix}${number}`, profileOf(number, profiles));
}

/** Reads `smoke,nightly`; throws what is wrong with it. */
export function readProfiles(text: string): readonly Profile[] {
  return text.split(',').map((name) => {
    const profile = PROFILES.find((one) => one === name);
    if (profile === undefined)
      throw new Error(`there is no profile ${name}; there are ${PROFILES.join(', ')}`);
    return profile;
  });
}
