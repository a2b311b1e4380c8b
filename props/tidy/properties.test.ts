// What goes by a seed is tried with a fresh one in every whole proof, wherever it lies.
import { describe, expect, it } from 'vitest';
import { filesBySeed } from '../properties.ts';
import { textOf } from './files.ts';

describe('the files that go by a seed', () => {
  const files = filesBySeed();

  it('should be found by what they import, also through what tests share', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'gateway/web/session/return-to.test.ts',
        'props/attacks/console-deaths.test.ts',
        'props/contracts/memory.test.ts',
        'props/fuzz/signatures.test.ts',
        'props/machines/spool.test.ts',
        'sensor/engine/export-reader.test.ts',
        'storage/keys/csr.test.ts',
      ]),
    );
    expect(files.filter((file) => file.includes('.services.'))).toEqual([]);
    expect(files).not.toContain('machines/trust/certificate.rules.test.ts');
  });

  it('should be what the whole proof tries afresh, in place of a list that grows old', () => {
    const whole = textOf('.ci/run');
    expect(whole).toContain('< <(node props/properties.ts)');
    expect(whole).toMatch(/PROPS_RUNS=1 PROPS_SEED="\$seed" npm test .*"\$\{files\[@\]\}"/);
    expect(whole).toMatch(/^step "npm run test:services" env PROPS_SEED="\$CI_SEED" /m);
  });
});
