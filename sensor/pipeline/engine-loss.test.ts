import { describe, expect, it } from 'vitest';
import { engineLossOf } from './engine-loss.ts';

const told = (info: object): string => JSON.stringify({ rate_limit_info: info });

describe('engine loss', () => {
  it('should count what Tetragon says as lost in the engine', () => {
    expect(engineLossOf(told({ number_of_dropped_process_events: '17' }))).toEqual({
      kernel_lost: 0,
      engine_lost: 17,
    });
  });

  it('should tell the kernel ring apart when the engine does', () => {
    const info = { number_of_dropped_process_events: '17', number_of_kernel_dropped_events: '12' };
    expect(engineLossOf(told(info))).toEqual({ kernel_lost: 12, engine_lost: 5 });
  });

  it('should count no more in the kernel than there was in all, and one where no number stands', () => {
    const info = { number_of_dropped_process_events: '3', number_of_kernel_dropped_events: '9' };
    expect(engineLossOf(told(info))).toEqual({ kernel_lost: 3, engine_lost: 0 });
    expect(engineLossOf(told({}))).toEqual({ kernel_lost: 0, engine_lost: 1 });
    expect(engineLossOf(told({ number_of_dropped_process_events: '-5' }))).toEqual({
      kernel_lost: 0,
      engine_lost: 1,
    });
  });

  it('should say nothing for any other line', () => {
    expect(engineLossOf('{"process_exec":{}}')).toEqual({});
    expect(engineLossOf('no JSON')).toEqual({});
  });
});
