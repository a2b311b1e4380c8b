import { describe, expect, it } from 'vitest';
import { helloOf } from './engine-messages.ts';

const hooksOf = (engine: string, isPreemptRt: boolean) =>
  helloOf({ engine, version: '1.7.0', mode: 'm', disabled_hooks: [] }, isPreemptRt, [])
    .disabledHooks;

describe('the hello of an engine', () => {
  it.each(['ebpf', 'procfs'])('should lack nothing on a PREEMPT_RT kernel of %s', (engine) => {
    expect(hooksOf(engine, true)).toEqual([]);
  });

  it('should lack the syscall kprobes that override of Tetragon there, and there only', () => {
    expect(hooksOf('tetragon', true)).toEqual([
      { hook: 'syscall_kprobes', reason: expect.stringContaining('BPF_MODIFY_RETURN') },
    ]);
    expect(hooksOf('tetragon', false)).toEqual([]);
  });

  it('should mark what every engine is to see and this one does not', () => {
    const listed = [
      { hook: 'sys_enter_connect', reason: 'it cannot be attached', missing: true },
      { hook: 'lsm/file_open', reason: 'the bpf LSM is not active', missing: 'yes' },
    ];
    const word = { engine: 'ebpf', version: '1.7.0', mode: 'ring', disabled_hooks: listed };
    const { disabledHooks } = helloOf(word, false, []);
    expect(disabledHooks.map(({ missing }) => missing)).toEqual([true, undefined]);
  });

  it('should have the engines that were passed over before what it lacks itself', () => {
    const passedOver = [{ hook: 'engine/tetragon', reason: 'no bundle is named' }];
    const own = { hook: 'lsm/file_open', reason: 'the bpf LSM is not active' };
    const word = { engine: 'ebpf', version: '1.7.0', mode: 'ring', disabled_hooks: [own] };
    expect(helloOf(word, false, passedOver)).toEqual({
      kind: 'ebpf',
      version: '1.7.0',
      mode: 'ring',
      disabledHooks: [...passedOver, own],
    });
  });
});
