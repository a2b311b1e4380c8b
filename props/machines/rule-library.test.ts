// The starter rules: each is read, says what it looks for and why, finds the event that it is for, and not the one beside it.
import { describe, expect, it } from 'vitest';
import { faultsOfExamples, readRuleLibrary } from '../../gateway/cli/detection/rule-library.ts';
import { rulesOfSigma } from '../../gateway/cli/detection/sigma-file.ts';

const library = await readRuleLibrary();

describe('the starter rules', () => {
  it('should be at least thirty', () => {
    expect(library.length).toBeGreaterThanOrEqual(30);
  });

  it.each(library)('should be readable, and hold by their own examples: $file.ruleId', (one) => {
    if (!one.ok) throw new Error(one.faults.join('\n'));
    const { spec, triggers, never } = one.file;
    expect(triggers.length).toBeGreaterThan(0);
    expect(never.length).toBeGreaterThan(0);
    expect(faultsOfExamples(one.file)).toEqual([]);
    expect(spec.mitre?.technique).toMatch(/^T\d{4}(\.\d{3})?$/);
    expect(spec.description).toMatch(/^[A-Z].{20,}\.$/);
  });
});

const SIGMA = `title: Curl to a shell
level: high
tags: [attack.execution, attack.t1059.004]
logsource: { product: linux, category: process_creation }
detection:
  tool:
    Image|endswith: [/curl, /wget]
  pipe:
    CommandLine|contains|all: ['| SH', http]
  filter:
    ParentImage: /usr/bin/make
  condition: 1 of tool* and pipe and not filter
`;

describe('a rule of Sigma', () => {
  const run = (text: string, args: string, parent: string) => {
    const read = rulesOfSigma(text);
    if (!read.ok) throw new Error(JSON.stringify(read.refusals));
    const part = {
      process: { binary: '/usr/bin/curl', arguments: args },
      parent: { binary: parent },
    };
    const file = { ruleId: read.ruleId, spec: read.spec, triggers: [part], never: [] };
    return faultsOfExamples(file).length === 0;
  };

  it('should become a rule that finds what it found', () => {
    expect(run(SIGMA, 'http://x | sh', '/bin/bash')).toBe(true);
    expect(run(SIGMA, 'http://x | sh', '/usr/bin/make')).toBe(false);
    expect(run(SIGMA, 'x | sh', '/bin/bash')).toBe(false);
    const read = rulesOfSigma(SIGMA);
    expect(read.ok && read.spec).toMatchObject({
      ...{ rule_name: 'Curl to a shell', severity: 'high' },
      mitre: { technique: 'T1059.004', tactic: 'execution' },
    });
  });

  it.each([
    [SIGMA.replace('product: linux', 'product: windows'), 4],
    [SIGMA.replace('process_creation', 'registry_event'), 4],
    [SIGMA.replace('Image|endswith', 'Hashes'), 7],
    [SIGMA.replace('contains|all', 'base64'), 9],
    [SIGMA.replace('and not filter', '| count() > 5'), 12],
    [SIGMA.replace('not filter', 'not other'), 12],
    [`${SIGMA}  timeframe: 5m\n`, 13],
    ['title: [', 1],
  ])('should name the line of what it does not know', (text, line) => {
    const read = rulesOfSigma(text);
    expect(read.ok).toBe(false);
    if (!read.ok) expect(read.refusals.map((one) => one.line)).toContain(line);
  });
});
