import { describe, expect, it } from 'vitest';
import { reasonOf, STARTUP_STEPS } from './startup.rules.ts';

describe('startup rules', () => {
  it('should keep the order of the specification', () => {
    expect(STARTUP_STEPS).toEqual([
      'configuration',
      'policy_signing_key',
      'relational_database',
      'license_trust_anchor',
      'analytics_and_sink',
      'routers',
      'sensor_tls_assets',
      'provisioning',
      'background_tasks',
      'listener',
    ]);
  });

  it('should give a reason of bounded length, without a stack', () => {
    expect(reasonOf(new Error('no such file'))).toBe('no such file');
    expect(reasonOf(7)).toBe('7');
    expect(reasonOf(new Error('x'.repeat(5_000)))).toBe('x'.repeat(1_000));
  });
});
