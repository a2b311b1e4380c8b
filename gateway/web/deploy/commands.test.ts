// What a shell makes of each line: the node gets the very words of the Console's own line.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { enrollLine } from '../../operator-plane/trust/enroll-line.ts';
import { commandsOf, flavorOf, type Target } from './commands.ts';

const facts = {
  url: 'https://192.168.100.200:15483',
  keyPin: 'k'.repeat(43).concat('='),
  caFingerprint: 'ab'.repeat(32),
  flavor: 'telecom',
} as const;
const line = enrollLine(facts);
const linesOf = (target: Target, flavor: 'standard' | 'telecom' = 'telecom') =>
  commandsOf(line, { target, flavor }).map((one) => one.line);
/** The words that programs are started with, one in a line; a command in a command says what it would fetch. */
const words = (text: string) =>
  execFileSync(
    'sh',
    [
      '-c',
      `say() { printf '[%s]\\n' "$@"; }; curl() { echo "fetched $*"; }
       sh() { say sh "$@"; }; docker() { say docker "$@"; }; kubectl() { say kubectl "$@"; }
       ${text}`,
    ],
    { encoding: 'utf8' },
  ).split('\n');

describe('the lines of the wizard', () => {
  it('should be the line of the Console on Linux, in the flavor that was chosen', () => {
    expect(flavorOf(line)).toBe('telecom');
    expect(linesOf('linux')).toEqual([line]);
    expect(linesOf('linux', 'standard')).toEqual([enrollLine({ ...facts, flavor: 'standard' })]);
  });

  it('should download, show and run the same script with the same words', () => {
    const [download = '', read, run = ''] = linesOf('read');
    expect(download).toContain(`--pinnedpubkey sha256//${facts.keyPin} ${facts.url}/install.sh`);
    expect(read).toBe('less install.sh');
    const options = words(line).slice(words(line).indexOf('[install]') + 1);
    expect(words(run).slice(2)).toEqual(options);
  });

  it('should hand the line whole to the node, fetched there and not where it is pasted', () => {
    for (const target of ['container', 'kubernetes'] as const) {
      const [only = ''] = linesOf(target);
      expect(words(only).slice(-4)).toEqual(['[sh]', '[-c]', `[${line}]`, '']);
    }
  });

  it('should hold no token, and nothing of a line that is another', () => {
    expect(linesOf('manual')[0]).toContain('--token-file /root/enrol-token');
    expect(commandsOf("echo 'x'", { target: 'container', flavor: 'standard' })).toEqual([]);
  });
});
