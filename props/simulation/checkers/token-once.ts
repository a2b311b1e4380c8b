// A token makes at most one identity. A repeat is answered with the same certificate, a revoked or expired token makes
// nothing, and a re-enrollment token makes nobody but the sensor it was made for. Expiry is judged by the clock of the
// Console that enrolls, whatever it shows: that instant is in the observation, so no clock is excused. invariant: I2
import type { ObservationOf } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';

type Token = {
  readonly sensor: string | null;
  readonly expiresAtMs: number;
  isRevoked: boolean;
  made: { readonly sensor: string; readonly fingerprint: string } | null;
};

export const tokenOnce: CheckerKind = {
  name: 'token-once',
  promise: 'A token makes at most one identity, under any interleaving (I2).',
  make(_fleet, report) {
    const tokens = new Map<string, Token>();

    function enrolled(seen: ObservationOf<'sensor.enrolled'>): void {
      const name = `token ${seen.token}`;
      const token = tokens.get(seen.token);
      if (token === undefined) {
        report(`${name} was never made and enrolled ${seen.sensor}`);
        return;
      }
      if (token.isRevoked) report(`${name} was revoked and enrolled ${seen.sensor}`);
      if (seen.nowMs >= token.expiresAtMs) {
        report(`${name} was expired for ${seen.nowMs - token.expiresAtMs} ms when it enrolled`);
      }
      if (token.sensor !== null && token.sensor !== seen.sensor) {
        report(`${name} is for sensor ${token.sensor} and enrolled ${seen.sensor}`);
      }
      if (token.made === null) {
        if (seen.repeated) report(`${name} was repeated before it was used`);
        token.made = { sensor: seen.sensor, fingerprint: seen.fingerprint };
        return;
      }
      const { sensor, fingerprint } = token.made;
      if (!seen.repeated) report(`${name} was used twice: ${sensor}, then ${seen.sensor}`);
      else if (sensor !== seen.sensor || fingerprint !== seen.fingerprint) {
        report(`${name} was repeated with another answer: ${fingerprint}, ${seen.fingerprint}`);
      }
    }

    return {
      observe(observation) {
        if (observation.kind === 'token.created') {
          const { sensor, expiresAtMs } = observation;
          tokens.set(observation.token, { sensor, expiresAtMs, isRevoked: false, made: null });
        }
        if (observation.kind === 'token.revoked') {
          const token = tokens.get(observation.token);
          if (token !== undefined) token.isRevoked = true;
        }
        if (observation.kind === 'sensor.enrolled') enrolled(observation);
      },
    };
  },
};
