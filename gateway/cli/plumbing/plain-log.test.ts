import { describe, expect, it } from 'vitest';
import { createPlainLog } from './plain-log.ts';

describe('the log for a person', () => {
  it('should be lines of text, of what went wrong, while it is wanted', () => {
    const lines: string[] = [];
    const { logger, tell } = createPlainLog({ write: (text) => lines.push(text) });
    logger.warn('too early');
    tell(true);
    logger.info({ step: 'x' }, 'not for a person');
    logger.warn('the store is slow');
    logger.child({}).error({ code: 1, why: 'a\u001b[2J\nb' }, 'the Sensor ended');
    tell(false);
    logger.error('too late');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe('warning: the store is slow\n');
    expect(lines[1]).toMatch(/^error: the Sensor ended \(code 1, why a[^\u001b]+\)\n$/);
  });
});
