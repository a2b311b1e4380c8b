import { describe, expect, it } from 'vitest';
import { describeCommand, readCommand } from './command.ts';

const drawn = (): string => 'drawn';

function mistakesOf(...args: string[]): readonly string[] {
  const read = readCommand(args, drawn);
  return read.ok ? [] : read.mistakes;
}

describe('command', () => {
  it('should take what is given and draw the seed when there is none', () => {
    const read = readCommand(['--sensors', '20', '--days', '30', '--kinds', 'node.kill'], drawn);
    expect(read).toMatchObject({
      ok: true,
      command: {
        seed: 'drawn',
        profile: 'long',
        given: { sensors: 20, hours: 720, kinds: ['node.kill'] },
      },
    });
  });

  it('should answer nonsense with a sentence for each mistake', () => {
    expect(mistakesOf('--profile', 'x', '--sensors', '1.5', '--faults', 'many')).toHaveLength(3);
    expect(mistakesOf('--hours', '1', '--days', '1')).toHaveLength(1);
    expect(mistakesOf('--hours=-1')).toHaveLength(1);
    expect(mistakesOf('--sensors', '')).toHaveLength(1);
    expect(mistakesOf('--kinds', 'node.kill,node.eaten')).toEqual([
      'there is no kind of accident node.eaten',
    ]);
    expect(mistakesOf('--unknown')).toHaveLength(1);
    expect(mistakesOf('left over')).toHaveLength(1);
    expect(mistakesOf('--replay', 'a.json', '--seed', '1')).toHaveLength(1);
    expect(mistakesOf('--bug', 'x', '--save', 'a story')).toHaveLength(1);
    expect(mistakesOf('--database', 'x')).toHaveLength(1);
    expect(mistakesOf('--database', 'postgres', '--shrink')).toHaveLength(1);
  });

  it('should describe itself so that it is read back the same', () => {
    const args = ['--seed', "it's 1", '--profile', 'smoke', '--faults', '7', '--kinds', 'none'];
    const read = readCommand(args, drawn);
    expect(read.ok && describeCommand(read.command)).toBe(
      `npm run simulate -- --seed 'it'\\''s 1' --profile smoke --faults 7 --kinds none`,
    );
  });

  it('should describe that a real database answers', () => {
    const read = readCommand(['--seed', '1', '--database', 'postgres'], drawn);
    expect(read.ok && describeCommand(read.command)).toBe(
      'npm run simulate -- --seed 1 --profile nightly --database postgres',
    );
  });
});
