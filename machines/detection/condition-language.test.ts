// The condition language by example: what each form means, how it is printed, and where what cannot be read is refused.
// decision: D97
import { describe, expect, it } from 'vitest';
import type { Condition } from './condition.ts';
import { parseCondition } from './condition-parser.ts';
import { conditionText } from './condition-text.ts';

function read(text: string): Condition {
  const result = parseCondition(text);
  if (!result.ok) throw new Error(`${text}: ${result.at} ${result.detail}`);
  return result.condition;
}
function refusal(text: string): string {
  const result = parseCondition(text);
  return result.ok ? 'none' : `${result.at} ${result.detail}`;
}
const pid = (...values: readonly number[]) => ({ is: 'among', field: 'process.pid', values });
const binary = (...values: readonly string[]) => ({ is: 'among', field: 'process.binary', values });

describe('a condition', () => {
  it('should bind not before and, and before or', () => {
    const [a, b, c] = [pid(1), pid(2), pid(3)];
    const notB = { is: 'not', of: b };
    const meant = { is: 'either', of: [{ is: 'all', of: [a, notB] }, c] };
    expect(read('pid:1 and not pid:2 or pid:3')).toEqual(meant);
    expect(read('  PID:1'.toLowerCase())).toEqual(a);
    expect(read('pid:1 NOT pid:2 OR pid:3')).toEqual(meant);
    expect(read('((pid:1)(not(pid:2)) ) or(pid:3)')).toEqual(meant);
    expect(read('pid:1 and (pid:2 or pid:3)')).toEqual({
      ...{ is: 'all', of: [a, { is: 'either', of: [b, c] }] },
    });
    expect(conditionText(read('pid:1 and not (pid:2 or pid:3)'))).toBe(
      'process.pid:1 and not (process.pid:2 or process.pid:3)',
    );
    expect(conditionText(read('(pid:1 and pid:2) or pid:3'))).toBe(
      '(process.pid:1 and process.pid:2) or process.pid:3',
    );
  });

  it('should compare a field with one value of a list, each once', () => {
    expect(read('pid:(1, 2,1 or 3 4)')).toEqual(pid(1, 2, 3, 4));
    expect(read('binary:(a, b*)')).toEqual({
      is: 'either',
      of: [
        binary('a'),
        { is: 'like', field: 'process.binary', pieces: [{ is: 'text', text: 'b' }, { is: 'any' }] },
      ],
    });
    expect(read('binary:( a )')).toEqual(binary('a'));
    expect(read('binary~(a, b)')).toEqual({
      is: 'either',
      of: ['a', 'b'].map((text) => ({ is: 'contains', field: 'process.binary', text })),
    });
    expect(read('binary:(order, android)')).toEqual(binary('order', 'android'));
  });

  it('should compare numbers with numbers and ranges', () => {
    const compare = (op: string, value: number, field = 'process.pid') => ({
      ...{ is: 'compare', field, op, value },
    });
    for (const op of ['<', '<=', '>', '>=']) expect(read(`pid:${op}7`)).toEqual(compare(op, 7));
    expect(read('pid:1..9')).toEqual({ is: 'all', of: [compare('>=', 1), compare('<=', 9)] });
    expect(read('pid:9007199254740991')).toEqual(pid(9_007_199_254_740_991));
    for (const [text, value] of [
      ['0.25', 0.25],
      ['1', 1],
      ['5e-3', 0.005],
    ] as const) {
      expect(read(`anomaly_score:>${text}`)).toEqual(compare('>', value, 'anomaly_score'));
    }
    expect(conditionText(read('anomaly_score:>=0.25'))).toBe('anomaly_score:>=0.25');
  });

  it('should compare words in their order where they rise', () => {
    const severities = (text: string) => read(text);
    const among = (...values: string[]) => ({ is: 'among', field: 'severity', values });
    expect(severities('severity:>=HIGH')).toEqual(among('high', 'critical'));
    expect(severities('severity:>high')).toEqual(among('critical'));
    expect(severities('severity:<low')).toEqual(among('info'));
    expect(severities('severity:<=low')).toEqual(among('info', 'low'));
    expect(severities('severity:low')).toEqual(among('low'));
  });

  it('should read quotes, escapes and wildcards', () => {
    expect(read('binary:"a b"')).toEqual(binary('a b'));
    expect(read('binary:"and"')).toEqual(binary('and'));
    expect(read('binary:a\\*\\?\\"')).toEqual(binary('a*?"'));
    expect(read('binary:"\\n\\r\\t\\x41\\u{1F600}\\\\"')).toEqual(binary('\n\r\tA\u{1f600}\\'));
    expect(read('binary:""')).toEqual(binary(''));
    expect(read('binary:*')).toEqual({ is: 'present', field: 'process.binary' });
    const pieces = [
      ...[{ is: 'any' }, { is: 'text', text: 'a' }, { is: 'one' }, { is: 'one' }, { is: 'any' }],
    ];
    expect(read('binary:**a??***')).toEqual({ is: 'like', field: 'process.binary', pieces });
    expect(conditionText(read('binary:"*a\\*?"'))).toBe('process.binary:"*a\\*?"');
    expect(conditionText(read('binary:"a\\nb"'))).toBe('process.binary:"a\\x0ab"');
    expect(conditionText(read('binary:(and, b, "c d")'))).toBe('process.binary:("and", b, "c d")');
    expect(conditionText(read('binary:*'))).toBe('process.binary:*');
  });

  it('should read a pattern as it is written', () => {
    const pattern = (source: string) => ({ is: 'pattern', field: 'process.binary', source });
    expect(read('binary=~^/bin/a$ pid:1')).toEqual({
      is: 'all',
      of: [pattern('^/bin/a$'), pid(1)],
    });
    expect(read('(binary=~a)')).toEqual(pattern('a'));
    expect(read('binary=~"a b\\"\\d"')).toEqual(pattern('a b"\\d'));
    expect(conditionText(pattern('a"\\"b') as Condition)).toBe('process.binary=~"a\\"\\"b"');
  });

  it('should look for words in what people read', () => {
    expect(read('secret')).toEqual({ is: 'words', text: 'secret' });
    expect(read('"two words" pid:1')).toEqual({
      ...{ is: 'all', of: [{ is: 'words', text: 'two words' }, pid(1)] },
    });
    expect(conditionText(read('"two words"'))).toBe('"two words"');
    expect(read('order')).toEqual({ is: 'words', text: 'order' });
    expect(read('a\\:b')).toEqual({ is: 'words', text: 'a:b' });
  });

  it('should keep a network as it was written', () => {
    expect(read('destination_ip:10.0.0.0/8')).toEqual({
      ...{ is: 'network', field: 'network.destination_ip', source: '10.0.0.0/8' },
      ...{ first: '00000000000000000000ffff0a000000', last: '00000000000000000000ffff0affffff' },
    });
    expect(conditionText(read('destination_ip:10.0.0.0/8'))).toBe(
      'network.destination_ip:10.0.0.0/8',
    );
  });
});

describe('what cannot be read', () => {
  it.each([
    ['', '0 something to look for is missing'],
    ['pid:1 or', '8 something to look for is missing'],
    ['pid:1 and or pid:2', '10 a part is missing before this word'],
    ['and', '0 a part is missing before this word'],
    ['not', '3 something to look for is missing'],
    ['pid:1)', '5 unexpected )'],
    ['pid:1,', '5 unexpected ,'],
    [')', '0 unexpected )'],
    [',', '0 unexpected ,'],
    ['  (pid:1', '2 the parenthesis is never closed'],
    ['pid:(1, 2', '4 the list is never closed'],
    ['pid:( )', '4 the list is empty'],
    ['pid:', '4 a value is missing'],
    ['binary:"a', '7 the quote is never closed'],
    ['binary=~"a', '8 the quote is never closed'],
    ['binary=~', '8 the pattern is missing'],
    ['binary=~""', '8 the pattern is missing'],
    ['colour:red', '0 no field is called colour; quote the text to search for it'],
    ['pid~1', '0 process.pid is a number; use process.pid: with a number or range'],
    ['anomaly_score=~1', '0 anomaly_score is a number; use anomaly_score: with a number or range'],
    ['pid:x', '4 process.pid is a whole number, or a range like 1..9, or >1'],
    ['pid:1.5', '4 process.pid is a whole number, or a range like 1..9, or >1'],
    ['pid:-1', '4 process.pid is a whole number, or a range like 1..9, or >1'],
    ['pid:9007199254740993', '4 process.pid is a whole number, or a range like 1..9, or >1'],
    ['pid:x1', '4 process.pid is a whole number, or a range like 1..9, or >1'],
    ['anomaly_score:1x', '14 anomaly_score is a number, or a range like 1..9, or >1'],
    ['pid:1..2..3', '4 a range has two ends'],
    ['pid:1*', '4 process.pid is a number; write a range like 1..9'],
    ['binary~a*', '7 a part has no wildcards'],
    ['binary~""', '7 the part is empty'],
    ['binary:>a', '7 process.binary has no order'],
    ['kind:>dns_query', '5 event_kind has no order'],
    ['direction:up', '10 network.direction is one of outbound, inbound, listen'],
    ['direction:*n', '10 network.direction has no wildcards'],
    ['source_ip:10.0.0.300', '10 network.source_ip is an address or a network like 10.0.0.0/8'],
    ['source_ip:>1.1.1.1', '10 network.source_ip has no order'],
    ['source_ip:10.*', '10 network.source_ip has no wildcards; write a network like 10.0.0.0/8'],
    ['sec*', '0 free text has no wildcards; write \\* or \\? for the character'],
    ['""', '0 the text is empty'],
    ['binary:\\q', '7 \\q means nothing here'],
    ['binary:\\', '7 \\ means nothing here'],
    ['binary:\\u{110000}', '7 there is no such character'],
    ['binary:\\x4', '7 \\x means nothing here'],
  ])('should be refused at its place: %s', (text, at) => {
    expect(refusal(text)).toBe(at);
  });

  it('should be what is too long, too deep, too many', () => {
    expect(refusal('a'.repeat(4_096))).toBe('none');
    expect(refusal('a'.repeat(4_097))).toBe('4096 a condition has 4096 characters at most');
    expect(refusal(`${'('.repeat(32)}a${')'.repeat(32)}`)).toBe('none');
    expect(refusal(`${'('.repeat(33)}a${')'.repeat(33)}`)).toBe('32 more than 32 levels');
    expect(refusal(`${'not '.repeat(33)}a`)).toBe('128 more than 32 levels');
    expect(refusal('(a) '.repeat(40))).toBe('none');
    expect(refusal('a '.repeat(255))).toBe('none');
    expect(refusal('a '.repeat(256))).toBe('512 more than 256 parts');
    expect(refusal('binary=~a '.repeat(16))).toBe('none');
    expect(refusal('binary=~a '.repeat(17))).toBe('168 more than 16 patterns');
  });

  it.each([
    ['[[]', '1 write \\[ for a bracket inside brackets'],
    ['[]a]', '0 write \\] for a bracket inside brackets'],
    ['[^]a]', '1 write \\] for a bracket inside brackets'],
    ['a(?i)', '1 only (?: and, at the beginning, (?i) are known'],
    ['(?=a)', '0 only (?: and, at the beginning, (?i) are known'],
    ['a{', '1 write \\{ for a brace'],
    ['a{x}', '1 write \\{ for a brace'],
    ['a{1001}', '1 it repeats too much'],
    ['a{40}b{40}', '6 it repeats too much'],
    ['a{2,1001}', '1 it repeats too much'],
    ['\\p', '0 \\p means nothing here'],
    ['a\\', '1 \\ means nothing here'],
  ])('should be a pattern that not every engine reads alike: %s', (pattern, why) => {
    const [at = '', ...words] = why.split(' ');
    expect(refusal(`binary=~${pattern}`)).toBe(`${8 + Number(at)} ${words.join(' ')}`);
  });

  it.each([
    ...['(?i)a', '(?:a)', '[a(?]', '[\\[\\]{]', '[^a]', 'a{3}', 'a{1000}', 'a{2,}', 'a{0,9}'],
    ...['(a{31}){31}', '\\d\\.\\{', '\\b_\\B', 'a\\('],
  ])('should not be a pattern that all engines read alike: %s', (pattern) => {
    expect(refusal(`binary=~"${pattern}"`)).toBe('none');
  });

  it('should be a pattern that cannot be compiled, or is too long', () => {
    expect(refusal('binary=~"(a"')).toBe('8 missing closing ): `(a`');
    expect(refusal(`binary=~${'a'.repeat(512)}`)).toBe('none');
    expect(refusal(`binary=~${'a'.repeat(513)}`)).toBe('8 a pattern has 512 characters at most');
  });
});
