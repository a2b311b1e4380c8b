import { describe, expect, it } from 'vitest';
import { chooseEngine, type EngineKind } from './choice.ts';

const working =
  (...kinds: EngineKind[]) =>
  async (kind: EngineKind) =>
    kinds.includes(kind) ? undefined : `no ${kind} here`;

describe('choose engine', () => {
  it('should take the best that works and say why no better one', async () => {
    expect(await chooseEngine('auto', working('ebpf', 'procfs'))).toEqual({
      ok: true,
      kind: 'ebpf',
      passedOver: [{ hook: 'engine/tetragon', reason: 'no tetragon here' }],
      hasFallback: true,
    });
    expect(await chooseEngine('auto', working('procfs'))).toMatchObject({ hasFallback: false });
  });

  it('should not ask those behind the chosen one', async () => {
    const asked: EngineKind[] = [];
    await chooseEngine('auto', async (kind) => {
      asked.push(kind);
      return kind === 'ebpf' ? undefined : 'no';
    });
    expect(asked).toEqual(['tetragon', 'ebpf']);
  });

  it('should take the one wished for and say that it was forced', async () => {
    expect(await chooseEngine('procfs', working('ebpf', 'procfs'))).toEqual({
      ok: true,
      kind: 'procfs',
      passedOver: [
        { hook: 'engine/tetragon', reason: 'procfs is forced' },
        { hook: 'engine/ebpf', reason: 'procfs is forced' },
      ],
      hasFallback: false,
    });
    expect(await chooseEngine('ebpf', working('ebpf'))).toMatchObject({ hasFallback: false });
  });

  it('should refuse when the one wished for does not work', async () => {
    expect(await chooseEngine('ebpf', working('procfs'))).toEqual({
      ok: false,
      reason: 'engine/ebpf: no ebpf here',
      passedOver: [{ hook: 'engine/ebpf', reason: 'no ebpf here' }],
    });
  });
});
