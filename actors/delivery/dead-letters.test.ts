import { describe, expect, it } from 'vitest';
import { DEAD_LETTERS_TELL_MS } from '../../machines/limits.ts';
import { createDeadLetters, type DeadLetter } from './dead-letters.ts';

const dead = (
  webhookId: string,
  kind: DeadLetter['alert']['kind'] = 'sensor_stale',
): DeadLetter => ({
  ...{ webhook: { webhookId, name: `hook ${webhookId}` }, reason: 'refused' },
  alert: { kind, headline: 'a node is silent' },
});

describe('dead letters', () => {
  it('should be told once an hour for each webhook, and again until they were told', () => {
    const ids = ['1', '2', '3', '4', '5'];
    const letters = createDeadLetters({ newId: () => ids.shift() ?? '' });
    const first = letters.alertsOf([dead('a'), dead('a'), dead('b')], 0);
    expect(first.map(({ ruleId }) => ruleId)).toEqual(['a', 'b']);
    expect(first[0]).toMatchObject({ kind: 'destination_failing', dedupKey: 'webhook/a' });
    expect(letters.alertsOf([dead('a')], 1)).toHaveLength(1);
    letters.told(first, 1);
    expect(letters.alertsOf([dead('a')], DEAD_LETTERS_TELL_MS)).toEqual([]);
    expect(letters.alertsOf([dead('a')], DEAD_LETTERS_TELL_MS + 1)).toHaveLength(1);
  });

  it('should never be told of themselves', () => {
    const letters = createDeadLetters({ newId: () => 'id' });
    expect(letters.alertsOf([dead('a', 'destination_failing')], 0)).toEqual([]);
  });
});
