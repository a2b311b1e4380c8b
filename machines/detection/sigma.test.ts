// What a rule of Sigma becomes, and what of it is refused where. decision: D132
import { describe, expect, it } from 'vitest';
import { parseCondition } from './condition-parser.ts';
import { specOfSigma } from './sigma.ts';

type Part = Readonly<Record<string, unknown>>;
const RULE: Part = {
  ...{ title: 'One', logsource: { product: 'linux', category: 'process_creation' } },
  detection: { a: { Image: '/bin/a' }, condition: 'a' },
};
function conditionOf(given: Part): string {
  const read = specOfSigma({ ...RULE, ...given });
  if (!read.ok) throw new Error(JSON.stringify(read.refusals));
  const { detect } = read.spec;
  if (detect.kind !== 'match') throw new Error(detect.kind);
  // Whatever is written must be read.
  expect(parseCondition(detect.condition)).toMatchObject({ ok: true });
  return detect.condition;
}
/** What stands behind the kind of the event. */
const judged = (detection: Part) =>
  conditionOf({ detection }).replace('event_kind:process_exec and ', '');
const selected = (selection: unknown) => judged({ a: selection, condition: 'a' });
function refused(given: unknown): readonly string[] {
  const read = specOfSigma(given);
  return read.ok ? [] : read.refusals.map(({ path, reason }) => `${path.join('.')}: ${reason}`);
}
const refusedWith = (given: Part) => refused({ ...RULE, ...given });
const withDetection = (detection: Part) =>
  refusedWith({ detection: { condition: 'a', ...detection } });

describe('a rule of Sigma', () => {
  it('should become a rule with its title, level, sentence and technique', () => {
    const more = { description: 'why', tags: ['attack.T1059', 'attack.Execution', 'cve.1', 7] };
    expect(specOfSigma({ ...RULE, ...more, level: 'informational' })).toEqual({
      ok: true,
      spec: {
        ...{ rule_name: 'One', severity: 'info', description: 'why' },
        mitre: { technique: 'T1059', tactic: 'execution' },
        detect: {
          kind: 'match',
          condition: 'event_kind:process_exec and (((process.binary=~"(?i)^/bin/a$")))',
        },
      },
    });
    const plain = specOfSigma(RULE);
    expect(plain.ok && Object.keys(plain.spec)).toEqual(['rule_name', 'severity', 'detect']);
    expect(plain.ok && plain.spec.severity).toBe('medium');
  });

  it.each(['low', 'medium', 'high', 'critical'])('should keep its level %s', (level) => {
    expect(specOfSigma({ ...RULE, level })).toMatchObject({ spec: { severity: level } });
  });

  it('should cut what is too long, and take no half of a technique', () => {
    const read = specOfSigma({
      ...{ ...RULE, title: 't'.repeat(129), description: 'd'.repeat(2_049) },
      tags: ['attack.t1059.001'],
    });
    if (!read.ok) throw new Error('refused');
    expect(read.spec.rule_name).toHaveLength(128);
    expect(read.spec.description).toHaveLength(2_048);
    expect(read.spec.mitre).toBeUndefined();
    for (const tags of [
      'attack.t1059',
      ['attack.execution'],
      ['attack.t105', 'attack.execution'],
    ]) {
      expect(specOfSigma({ ...RULE, tags })).not.toHaveProperty('spec.mitre');
    }
    const exact = specOfSigma({ ...RULE, tags: ['attack.t1059.001', 'attack.lateral-movement'] });
    expect(exact).toMatchObject({
      spec: { mitre: { technique: 'T1059.001', tactic: 'lateral-movement' } },
    });
  });

  it.each([
    ['process_creation', 'event_kind:process_exec'],
    ['network_connection', 'event_kind:network_connect'],
    ['file_event', 'event_kind:(file_open, file_write)'],
    ['dns_query', 'event_kind:dns_query'],
  ])('should look at the events of its category %s', (category, kind) => {
    const text = conditionOf({ logsource: { category } });
    expect(text).toBe(`${kind} and (((process.binary=~"(?i)^/bin/a$")))`);
  });

  it.each([
    ['Image', 'process.binary'],
    ['CommandLine', 'process.arguments'],
    ['CurrentDirectory', 'process.cwd'],
    ['ParentImage', 'parent.binary'],
    ['ParentCommandLine', 'parent.arguments'],
    ['TargetFilename', 'file.path'],
    ['DestinationHostname', 'network.domain'],
    ['QueryName', 'network.domain'],
  ])('should compare its text %s in any case', (name, field) => {
    expect(selected({ [name]: 'a' })).toBe(`(((${field}=~"(?i)^a$")))`);
  });

  it('should compare numbers and networks as such', () => {
    expect(selected({ ProcessId: 7 })).toBe('(((process.pid:7)))');
    expect(selected({ DestinationPort: [1, '2'] })).toBe(
      '(((network.destination_port:1 or network.destination_port:2)))',
    );
    expect(selected({ 'DestinationIp|cidr': '10.0.0.0/8' })).toBe(
      '(((network.destination_ip:10.0.0.0/8)))',
    );
    expect(selected({ 'SourceIp|cidr': '::/0' })).toBe('(((network.source_ip:::/0)))');
  });

  it('should compare parts by its modifiers, marks as themselves', () => {
    const image = (modifier: string, value: unknown) => selected({ [`Image|${modifier}`]: value });
    expect(image('contains', 'a.b')).toBe('(((process.binary=~"(?i)a\\.b")))');
    expect(image('startswith', '/a*')).toBe('(((process.binary=~"(?i)^/a.*")))');
    expect(image('endswith', '?"')).toBe('(((process.binary=~"(?i).\\"$")))');
    expect(image('re', '^a\\d"\\"')).toBe('(((process.binary=~"^a\\d\\"\\"")))');
    expect(image('contains', '\\^$.|+()[]{}')).toBe(
      '(((process.binary=~"(?i)\\\\\\^\\$\\.\\|\\+\\(\\)\\[\\]\\{\\}")))',
    );
    expect(image('contains', ['a', 'b'])).toBe(
      '(((process.binary=~"(?i)a" or process.binary=~"(?i)b")))',
    );
    expect(image('contains|all', ['a', 'b'])).toBe(
      '(((process.binary=~"(?i)a" and process.binary=~"(?i)b")))',
    );
    expect(selected({ Image: null })).toBe('(((not process.binary:*)))');
  });

  it('should join fields by and, selections of a list by or', () => {
    const [a, b] = ['process.pid:1', 'process.pid:2'];
    expect(selected([{ ProcessId: 1 }, { ProcessId: 2 }])).toBe(`((((${a})) or ((${b}))))`);
    expect(selected({ ProcessId: 1, ParentImage: null })).toBe(
      `(((${a}) and (not parent.binary:*)))`,
    );
  });

  it('should be judged by its condition', () => {
    const by = (condition: string) =>
      judged({ a1: { ProcessId: 1 }, a2: { ProcessId: 2 }, b: { ProcessId: 3 }, condition });
    const [one, two, three] = [1, 2, 3].map((pid) => `((process.pid:${pid}))`);
    expect(by('a1 AND not (a2 or b)')).toBe(`(${one} and not ( ${two} or ${three} ))`);
    expect(by('1 of a*')).toBe(`((${one} or ${two}))`);
    expect(by('all of a*')).toBe(`((${one} and ${two}))`);
    expect(by('all of them')).toBe(`((${one} and ${two} and ${three}))`);
    expect(by('1 of b')).toBe(`((${three}))`);
    expect(by('1 of a1 or b')).toBe(`((${one}) or ${three})`);
  });
});

describe('a rule of Sigma that is not known', () => {
  it('should be told of everything at once', () => {
    expect(refused(null)).toEqual([
      'logsource.category: the category  is not known',
      'detection.condition: one condition is known',
      'title: a title is missing',
    ]);
    expect(refused([RULE])).toHaveLength(3);
    expect(refused('a')).toHaveLength(3);
    expect(refusedWith({})).toEqual([]);
  });

  it.each<[Part, string]>([
    [
      { logsource: { category: 'registry' } },
      'logsource.category: the category registry is not known',
    ],
    [
      { logsource: { category: 'dns_query', product: 'windows' } },
      'logsource.product: only linux is known',
    ],
    [
      { logsource: { category: 'dns_query', service: 'auditd' } },
      'logsource.service: a service is not known',
    ],
    [{ level: 'loud' }, 'level: the level loud is not known'],
    [{ title: 7 }, 'title: a title is missing'],
  ])('should be refused by %j', (change, reason) => {
    expect(refusedWith(change)).toEqual([reason]);
  });

  it.each<[Part, string]>([
    [{ a: { ProcessId: 1 }, timeframe: '5m' }, 'detection.timeframe: a timeframe is not known'],
    [{ a: [] }, 'detection.a: a selection is empty'],
    [{ a: {} }, 'detection.a: a selection is empty'],
    [{ a: ['word'] }, 'detection.a: key words without a field are not known'],
    [{ a: [{ ProcessId: 1 }, {}] }, 'detection.a.1: a selection is empty'],
    [{ a: { Colour: 1 } }, 'detection.a.Colour: the field Colour is not known'],
    [{ a: { Image: [] } }, 'detection.a.Image: a value is missing'],
    [{ a: { Image: true } }, 'detection.a.Image: only texts and numbers are known'],
    [{ a: { 'Image|base64': 'a' } }, 'detection.a.Image|base64: the modifier base64 is not known'],
    [
      { a: { 'Image|re|contains': 'a' } },
      'detection.a.Image|re|contains: the modifiers re|contains are not known together',
    ],
    [{ a: { ProcessId: 1 }, condition: ['a'] }, 'detection.condition: one condition is known'],
    [
      { a: { ProcessId: 1 }, condition: 'a | count' },
      'detection.condition: | is not known in a condition',
    ],
    [{ a: { ProcessId: 1 }, condition: 'b' }, 'detection.condition: there is no selection b'],
    [
      { a: { ProcessId: 1 }, condition: '1 of b*' },
      'detection.condition: there is no selection b*',
    ],
    [{ a1: { ProcessId: 1 }, condition: '1 of a' }, 'detection.condition: there is no selection a'],
  ])('should be refused by its detection %j', (detection, reason) => {
    expect(withDetection(detection)[0]).toBe(reason);
  });
});
