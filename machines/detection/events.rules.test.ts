// What is read of events, by example: fields, addresses, wildcards, habits and why one is unusual.
// decision: D97, D131, D147
import { describe, expect, it } from 'vitest';
import type { Baseline } from '../wire/baseline.ts';
import type { StoredEvent } from '../wire/event.ts';
import { addressDigits, networkOf } from './address.ts';
import { parseCondition } from './condition-parser.ts';
import { deedsOf } from './deeds.ts';
import { eventOf, NOON_MS, proc } from './event.fixture.ts';
import { wantsOf } from './event-wants.ts';
import { EVENT_FIELDS, FIELD_NAMES, fieldNamed, fieldOf } from './fields.ts';
import { predicateOf } from './predicate.ts';
import { kindsOf, literalOf } from './prefilter.ts';
import { compileRule } from './rule-compile.ts';
import type { RuleSpec } from './rule-spec.ts';
import { programsOf, respectsOf } from './unusual.rules.ts';

function conditionOf(text: string) {
  const result = parseCondition(text);
  if (!result.ok) throw new Error(`${text}: ${result.detail}`);
  return result.condition;
}
const holds = (text: string, more: Partial<StoredEvent>) =>
  predicateOf(conditionOf(text))(eventOf(more));

describe('the fields of an event', () => {
  const parts = {
    ...{ event_id: 'ab', event_kind: 'file_open', severity: 'high', message: 'told' },
    ...{ sensor_id: 'sid', node_name: 'node', network_namespace: 'ns', raw_kind: 'RAW' },
    ...{ anomaly_score: 0.5, occurrences: 7 },
    process: proc('e', '/bin/p', { pid: 2, uid: 3, arguments: 'pa', cwd: '/pc' }),
    parent: proc('pe', '/bin/q', { pid: 4, uid: 5, arguments: 'qa', cwd: '/qc' }),
    ancestors: [proc('ae', '/bin/r', { arguments: 'ra' }), proc('be', '/bin/s')],
    workload: {
      ...{ container_id: 'c', k8s_namespace: 'k', pod_name: 'p', workload_type: 't' },
      ...{ workload_name: 'w', image: 'i' },
    },
    network: {
      ...{ protocol: 'tcp', direction: 'outbound', source_ip: '1.1.1.1', source_port: 11 },
      ...{ destination_ip: '2.2.2.2', destination_port: 22, domain: 'd' },
    },
    file: { path: '/f', operation: 'read' },
    policy: { name: 'pn', action: 'deny' },
    mitre: { technique: 'T1', tactic: 'ta' },
    telecom: {
      ...{ protocol_family: 'f', interface_context: 'i', transport_context: 't' },
      ...{ network_function_role: 'r', procedure: 'p' },
    },
  };
  const event = eventOf(parts as unknown as Partial<StoredEvent>);

  it.each(FIELD_NAMES)('should be read from where their name says: %s', (name) => {
    const { read, readAll, about, kind } = fieldOf(name);
    const [first = '', second = ''] = name.split('.');
    const at = Reflect.get(event, first);
    const own = Array.isArray(at)
      ? at.map((one) => Reflect.get(one, second))
      : second === ''
        ? at
        : Reflect.get(at, second);
    expect(own).toBeDefined();
    expect(read?.(event) ?? readAll?.(event)).toEqual(own);
    const empty = { ...eventOf(), [first]: undefined } as unknown as StoredEvent;
    expect(read === undefined ? readAll(empty) : read(empty)).toEqual(read ? undefined : []);
    expect(about).toMatch(/^[A-Z]/);
    const isNumber = typeof own === 'number';
    expect(isNumber).toBe(kind === 'integer' || kind === 'decimal');
    expect(kind === 'decimal').toBe(name === 'anomaly_score');
    expect(kind === 'address').toBe(/_ip$/.test(name));
    expect(kind === 'choice').toBe(['event_kind', 'severity', 'network.direction'].includes(name));
  });

  it('should have the short names that people type', () => {
    const short = {
      ...{ kind: 'event_kind', sensor: 'sensor_id', node: 'node_name', exec: 'process.exec_id' },
      ...{ exec_id: 'process.exec_id', pid: 'process.pid', uid: 'process.uid' },
      ...{ binary: 'process.binary', arguments: 'process.arguments', cwd: 'process.cwd' },
      ...{ parent_binary: 'parent.binary', ancestor: 'ancestors.binary' },
      ...{ container_id: 'workload.container_id', k8s_namespace: 'workload.k8s_namespace' },
      ...{ namespace: 'workload.k8s_namespace', pod_name: 'workload.pod_name' },
      ...{ pod: 'workload.pod_name', workload_type: 'workload.workload_type' },
      ...{ workload_name: 'workload.workload_name', image: 'workload.image' },
      ...{ protocol: 'network.protocol', direction: 'network.direction' },
      ...{ source_ip: 'network.source_ip', source_port: 'network.source_port' },
      ...{ destination_ip: 'network.destination_ip', domain: 'network.domain' },
      ...{ destination_port: 'network.destination_port', path: 'file.path' },
      ...{ file_path: 'file.path', operation: 'file.operation', policy: 'policy.name' },
      ...{ policy_action: 'policy.action', technique: 'mitre.technique', tactic: 'mitre.tactic' },
    };
    const own = FIELD_NAMES.flatMap((name) => fieldOf(name).short ?? []);
    expect(own.toSorted()).toEqual(Object.keys(short).toSorted());
    for (const [name, field] of Object.entries(short)) expect(fieldNamed(name)).toBe(field);
    for (const name of FIELD_NAMES) expect(fieldNamed(name)).toBe(name);
    expect(fieldNamed('toString')).toBeUndefined();
    expect(FIELD_NAMES).toEqual(Object.keys(EVENT_FIELDS));
  });

  it('should be compared in any case where a name has none', () => {
    expect(holds('domain:Example.ORG', { network: { domain: 'EXAMPLE.org' } as never })).toBe(true);
    expect(holds('domain:*.Org', { network: { domain: 'a.ORG' } as never })).toBe(true);
    expect(holds('binary:/bin/A', { process: proc('e', '/bin/a') })).toBe(false);
    expect(holds('binary:/bin/A*', { process: proc('e', '/bin/a') })).toBe(false);
    expect(holds('binary~BIN', { process: proc('e', '/bin/a') })).toBe(true);
    expect(holds('ancestor:/b', { ancestors: [proc('a', '/a'), proc('b', '/b')] })).toBe(true);
    expect(holds('ancestor:*', {})).toBe(false);
    expect(holds('pid:<100', { process: proc('e', 'a') })).toBe(false);
    expect(holds('pid:<=100 pid:>=100', { process: proc('e', 'a') })).toBe(true);
    expect(holds('pid:>100', { process: proc('e', 'a') })).toBe(false);
    expect(holds('pid:100', { process: proc('e', 'a') })).toBe(true);
    expect(holds('told', { message: 'what was TOLD' })).toBe(true);
    expect(holds('source_ip:10.0.0.0/31', { network: { source_ip: '10.0.0.1' } as never })).toBe(
      true,
    );
    expect(holds('source_ip:10.0.0.0/31', { network: { source_ip: '10.0.0.2' } as never })).toBe(
      false,
    );
    expect(holds('source_ip:10.0.0.2/31', { network: { source_ip: '10.0.0.1' } as never })).toBe(
      false,
    );
  });
});

describe('a text with wildcards', () => {
  it.each([
    ['a*', ['a', 'ab'], ['ba', '']],
    ['*a', ['a', 'ba'], ['ab', '']],
    ['*a*', ['a', 'bab'], ['b', '']],
    ['ab*ba', ['abba', 'abxba'], ['aba', 'ab', 'xabba', 'abbax']],
    ['a?c', ['abc', 'a😀c'], ['ac', 'abbc', 'abd']],
    ['?', ['a', '😀'], ['', 'ab']],
    ['a*b*c', ['abc', 'axbxc', 'abbc'], ['ac', 'acb', 'abcx', 'xabc']],
    ['a*b?b*c', ['abxbc', 'abxbbc'], ['abbc', 'abxc']],
    ['ab*b*bc', ['abbbc', 'abxbxbc'], ['abbc', 'abxbc']],
    ['*ab*ab*', ['abab', 'xabyabz'], ['aba', 'ab']],
    ['?*?', ['ab', 'abc'], ['a', '']],
  ])('should fit the whole of %s', (pattern, yes, no) => {
    const fits = (text: string) => holds(`binary:"${pattern}"`, { process: proc('e', text) });
    expect(yes.filter((one) => !fits(one))).toEqual([]);
    expect(no.filter(fits)).toEqual([]);
  });
});

describe('an address', () => {
  it('should be told by 32 digits, whichever form it has', () => {
    const v4 = '00000000000000000000ffff0a0000ff';
    for (const one of ['10.0.0.255', '::ffff:10.0.0.255', '0:0:0:0:0:FFFF:a00:ff']) {
      expect(addressDigits(one)).toBe(v4);
    }
    expect(addressDigits('::')).toBe('0'.repeat(32));
    expect(addressDigits('1::')).toBe(`0001${'0'.repeat(28)}`);
    expect(addressDigits('::1')).toBe(`${'0'.repeat(31)}1`);
    expect(addressDigits('1:2:3:4:5:6:7:8')).toBe('00010002000300040005000600070008');
    expect(addressDigits('1:2:3:4:5:6:1.2.3.4')).toBe('00010002000300040005000601020304');
    expect(addressDigits('1::3:4:5:6:7:8')).toBe('00010000000300040005000600070008');
  });

  it.each([
    ...['', 'a', '1.2.3', '1.2.3.4.5', '1.2.3.256', '01.2.3.4', '1.2.3.4 ', '1:2:3:4:5:6:7'],
    ...[
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7:8::',
      '1::2::3',
      '12345::',
      'g::',
      '1.2.3.4::',
      '::1.2.3',
    ],
    ...['fe80::1%eth0', ':1', '1:', ':::', '1:2:3:4:5:6:7:1.2.3.4', `::${'0'.repeat(60)}`],
  ])('should be refused when it is none: %j', (text) => {
    expect(addressDigits(text)).toBeNull();
  });

  it('should be in the network that its first bits name', () => {
    const v4 = (tail: string) => `00000000000000000000ffff${tail}`;
    expect(networkOf('10.1.2.3/8')).toEqual({ first: v4('0a000000'), last: v4('0affffff') });
    expect(networkOf('10.1.2.3/32')).toEqual({ first: v4('0a010203'), last: v4('0a010203') });
    expect(networkOf('10.1.2.3')).toEqual({ first: v4('0a010203'), last: v4('0a010203') });
    expect(networkOf('0.0.0.0/0')).toEqual({ first: v4('00000000'), last: v4('ffffffff') });
    expect(networkOf('::1/0')).toEqual({ first: '0'.repeat(32), last: 'f'.repeat(32) });
    expect(networkOf('::1/128')?.first).toBe(`${'0'.repeat(31)}1`);
    for (const none of [
      '10.0.0.0/33',
      '::/129',
      '::/',
      '::/x',
      '::/1/2',
      '::/-1',
      '::/0001',
      'x/8',
    ]) {
      expect(networkOf(none)).toBeNull();
    }
  });
});

describe('what a rule needs at least', () => {
  it('should be the kinds of events that can satisfy it', () => {
    const kinds = (text: string) => {
      const found = kindsOf(conditionOf(text));
      return found === null ? null : [...found];
    };
    expect(kinds('kind:file_open')).toEqual(['file_open']);
    expect(kinds('kind:(file_open, file_write) and pid:1 and kind:file_write')).toEqual([
      'file_write',
    ]);
    expect(kinds('kind:file_open or kind:dns_query')?.toSorted()).toEqual([
      ...['dns_query', 'file_open'],
    ]);
    expect(kinds('kind:file_open or pid:1')).toBeNull();
    expect(kinds('pid:1 and uid:1')).toBeNull();
    expect(kinds('not kind:file_open')).toBeNull();
    expect(kinds('severity:high')).toBeNull();
    expect(kinds('kind:file_open kind:dns_query')).toEqual([]);
  });

  it.each([
    ['abc', 'abc'],
    ['(?i)abc', ''],
    ['ab|cd', ''],
    ['ab(xyz)cde', 'cde'],
    ['abc(x(y)[)]\\))de', 'abc'],
    ['ab[cdefg]hij', 'hij'],
    ['ab[\\]xyz]hij', 'hij'],
    ['abc*de', 'ab'],
    ['abc?', 'ab'],
    ['abc{0,9}de', 'ab'],
    ['abc+d', 'abc'],
    ['^ab$', 'ab'],
    ['a.bc', 'bc'],
    ['ab\\dcde', 'cde'],
    ['a\\.b', 'a.b'],
    ['a😀*', 'a'],
    ['', ''],
    ['ab(cde', 'ab'],
  ])('should be the longest text without which %s cannot fit', (pattern, text) => {
    expect(literalOf(pattern)).toBe(text);
  });

  it('should be the fields that it reads, each once', () => {
    const wants = (detect: RuleSpec['detect'], more: Partial<RuleSpec> = {}) => {
      const made = compileRule('one', { rule_name: 'one', severity: 'low', detect, ...more });
      if (!made.ok) throw new Error(JSON.stringify(made.faults));
      return wantsOf(made.rule);
    };
    expect(
      wants(
        { kind: 'match', condition: 'pid:1 and (uid:2 or not pid:3)' },
        { group_by: ['cwd', 'uid'] },
      ),
    ).toEqual({ fields: ['process.pid', 'process.uid', 'process.cwd'], isOfTree: false });
    expect(wants({ kind: 'match', condition: 'word' }).fields).toEqual([
      ...['message', 'process.binary', 'process.arguments', 'file.path', 'network.domain'],
    ]);
    const steps = { kind: 'sequence' as const, steps: ['pid:1', 'uid:1'], window_secs: 9 };
    expect(wants({ ...steps, by: 'process_tree' })).toEqual({
      ...{ fields: ['process.pid', 'process.uid'], isOfTree: true },
    });
    expect(wants({ ...steps, by: 'sensor' }).isOfTree).toBe(false);
    const one = { condition: 'pid:1', window_secs: 9 };
    expect(wants({ kind: 'absence', ...one }).isOfTree).toBe(false);
    expect(wants({ kind: 'count', ...one, threshold: 2 }).isOfTree).toBe(false);
  });
});

describe('the habits in an event', () => {
  const own = proc('e', '/bin/a', { uid: 7 });
  const told = (more: Partial<StoredEvent>) =>
    deedsOf(eventOf(more), NOON_MS).map((one) => `${one.binary} ${one.dimension} ${one.value}`);

  it('should be of a start: who starts it, its user and its hour', () => {
    const start = ['/bin/sh children /bin/a', '/bin/a users 7', '/bin/a hours 12'];
    expect(told({ process: own, parent: proc('p', '/bin/sh') })).toEqual(start);
    const burst = { event_kind: 'process_burst', process: own } as const;
    expect(told(burst)).toEqual(start.slice(1));
    expect(told({ process: proc('e', '/bin/a') })).toEqual(['/bin/a hours 12']);
    expect(told({})).toEqual([]);
    expect(told({ process: proc('e', '/'.repeat(513)) })).toEqual([]);
    expect(told({ process: proc('e', '/'.repeat(512)) })).toHaveLength(1);
    expect(told({ event_kind: 'process_exit', process: own })).toEqual([]);
  });

  it('should be of a file its folder, four deep and without numbers', () => {
    const folder = (path: string, event_kind: 'file_open' | 'file_write' = 'file_open') =>
      told({ event_kind, process: own, file: { path } as never })[0];
    expect(folder('/a/b/c/d/e/f')).toBe('/bin/a files /a/b/c/d');
    expect(folder('/proc/1234/x/y', 'file_write')).toBe('/bin/a files /proc/#/x');
    expect(folder('/run/deadbeef01/x')).toBe('/bin/a files /run/#');
    expect(folder('/x')).toBe('/bin/a files /');
    expect(folder('x')).toBe('/bin/a files /');
    expect(told({ event_kind: 'file_open', process: own })).toEqual([]);
  });

  it('should be of a connection its name or its network, with the port', () => {
    const to = (network: object) =>
      told({ event_kind: 'network_connect', process: own, network: network as never })[0];
    expect(to({ domain: 'd', destination_ip: '1.2.3.4', destination_port: 1 })).toBe(
      '/bin/a destinations d:1',
    );
    expect(to({ destination_ip: '10.20.30.40' })).toBe('/bin/a destinations 10.20.30.0/24:');
    expect(to({ destination_ip: '::ffff:10.20.30.40' })).toBe(
      '/bin/a destinations ::ffff:10.20.30.40:',
    );
    expect(to({ destination_ip: '1:2:3:4:5::9', destination_port: 1 })).toBe(
      '/bin/a destinations 1:2:3:4:1',
    );
    expect(to({})).toBeUndefined();
    expect(told({ event_kind: 'network_connect', process: own })).toEqual([]);
  });

  it('should be usual or not, as the baseline of the program says', () => {
    const hours = Array.from({ length: 24 }, (_, hour) => (hour === 3 ? 96 : hour === 12 ? 4 : 0));
    const users = [1, 2, 3, 4, 5, 6, 7].map((one) => ({ name: String(one), weight: one }));
    const baseline = { is_warm: true, hours, users, children: [], files: [], destinations: [] };
    const event = eventOf({ process: own, parent: proc('p', '/bin/sh') });
    const respects = respectsOf(event, new Map([['/bin/a', baseline as unknown as Baseline]]));
    expect(respects).toEqual([
      {
        ...{ binary: '/bin/a', dimension: 'hours', value: '12', isLearned: true, share: 0.04 },
        isUnusual: true,
        usual: [
          { name: '3', share: 0.96 },
          { name: '12', share: 0.04 },
        ],
      },
      {
        ...{ binary: '/bin/sh', dimension: 'children', value: '/bin/a', isLearned: null },
        ...{ share: null, isUnusual: false, usual: [] },
      },
      {
        ...{ binary: '/bin/a', dimension: 'users', value: '7', isLearned: true, share: 0.25 },
        isUnusual: false,
        usual: [7, 6, 5, 4, 3].map((one) => ({ name: String(one), share: one / 28 })),
      },
    ]);
    expect(programsOf(event)).toEqual(['/bin/sh', '/bin/a']);
    const cold = { ...baseline, is_warm: false, users: [] } as unknown as Baseline;
    const seen = respectsOf(event, new Map([['/bin/a', cold]]));
    expect(seen.map(({ isUnusual, share }) => [isUnusual, share])).toEqual([
      ...[[false, null] as const, [false, null] as const, [false, 0.04] as const],
    ]);
  });
});
