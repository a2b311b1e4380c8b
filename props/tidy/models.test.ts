// Every statechart is proven twice: its laws and rules in props/machines, and beside a small model in props/models.
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesLike, textOf } from './files.ts';

const machines = filesLike(/^machines\/.*\.machine\.ts$/).map((path) =>
  basename(path, '.machine.ts'),
);

describe('machines', () => {
  it('should each have a property file that holds it to the laws', () => {
    const lawful = filesLike(/^props\/machines\/.*\.test\.ts$/).filter((path) =>
      textOf(path).includes('describeMachineLaws('),
    );
    expect(machines.length).toBeGreaterThan(0);
    expect(machines.filter((name) => !lawful.includes(`props/machines/${name}.test.ts`))).toEqual(
      [],
    );
  });

  it('should each have a model that they agree with', () => {
    const modelled = filesLike(/^props\/models\/[^/]*\.model\.test\.ts$/).filter((path) =>
      textOf(path).includes('itsMachineAgrees('),
    );
    expect(
      machines.filter((name) => !modelled.includes(`props/models/${name}.model.test.ts`)),
    ).toEqual([]);
  });
});
