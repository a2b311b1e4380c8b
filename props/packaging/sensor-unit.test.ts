// The unit file for systemd, read as systemd reads it: the last word on a key of a section counts. decision: D51
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const UNIT = new URL('./sensor/service-sensor.service', import.meta.url);

function setting(section: string, key: string): string | undefined {
  let at = '';
  let value: string | undefined;
  for (const line of readFileSync(UNIT, 'utf8')
    .split('\n')
    .map((one) => one.trim())) {
    if (line.startsWith('[')) at = line;
    else if (at === `[${section}]` && line.startsWith(`${key}=`))
      value = line.slice(key.length + 1);
  }
  return value;
}

describe('the unit of the Sensor', () => {
  it('should end the Sensor alone, so that its engine goes on until the next one takes over', () => {
    expect(setting('Service', 'KillMode')).toBe('process');
    // The default, an ordered stop: the Sensor ends its engine then by itself.
    expect(setting('Service', 'KillSignal') ?? 'SIGTERM').toBe('SIGTERM');
    expect(setting('Service', 'SendSIGKILL') ?? 'yes').toBe('yes');
  });
});
