import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectTetragon } from './service.ts';

describe('connectTetragon', () => {
  it('should answer with a reason, and not throw, when it is asked after its end', async () => {
    const service = connectTetragon(path.join(tmpdir(), 'nobody-listens.sock'));
    service.close();
    const answers = [
      await service.version(),
      await service.list(),
      await service.add('kind: TracingPolicy'),
      await service.remove({ name: 'a', namespace: '' }),
      await service.setMode({ name: 'a', namespace: '' }, 'TP_MODE_MONITOR'),
    ];
    expect(answers).toEqual(answers.map(() => ({ ok: false, reason: 'the service is closed' })));
  });
});
