// What the arguments of a hook are read as, and what they may be compared with. decision: D45
import { describe, expect, it } from 'vitest';
import {
  hookOf,
  type Part,
  reasonsOf,
  refusedAt,
  selectorOf,
  withCall,
  withLsm,
  withPoint,
} from '../../props/policies/policy-text.ts';

const FIRST = 'spec.kprobes[0].args[0]';
const MATCH = 'spec.kprobes[0].selectors[0].matchArgs[0]';
const argument = (change: Part) => withCall({ args: [{ index: 0, ...change }] });
const TYPES = {
  ...{ int8: 's8', sint8: 's8', uint8: 'u8', int16: 's16', sint16: 's16', uint16: 'u16' },
  ...{ int: 's32', int32: 's32', sint32: 's32', uint32: 'u32', int64: 's64', sint64: 's64' },
  ...{ long: 's64', uint64: 'u64', ulong: 'u64', size_t: 'u64', fd: 'fd', string: 'text' },
};
const OTHER_TYPES =
  'skb sock sockaddr socket filename path dentry nop bpf_attr bpf_map bpf_prog bpf_cmd perf_event ' +
  'user_namespace capability kiocb iov_iter char_iovec cred load_info module syscall64 kernel_cap_t ' +
  'cap_inheritable cap_permitted cap_effective data_loc net_device int32_arr';

describe('an argument', () => {
  it.each(Object.entries(TYPES))('should be read by its type: %s as %s', (type, kind) => {
    const read = { index: 0, kind, sizeIndex: null, label: null };
    expect(hookOf(argument({ type })).args).toEqual([read]);
  });

  it.each(OTHER_TYPES.split(' '))('should be left to other engines: %s', (type) => {
    expect(refusedAt(argument({ type }))).toEqual([`${FIRST}.type engine_cannot`]);
  });

  it.each(['', 'strong', 'toString', 7])(
    'should be refused with a type that is none: %j',
    (type) => {
      expect(refusedAt(argument({ type }))).toEqual([`${FIRST}.type invalid`]);
    },
  );

  it('should have an index and a type', () => {
    expect(reasonsOf(withCall({ args: [{}] }))).toEqual(['index is missing', 'type is missing']);
    expect(reasonsOf(withPoint({ args: [{}] }))).toEqual(['index is missing']);
    expect(hookOf(withPoint({ args: [{ index: 5 }] })).args[0]?.kind).toBe('auto');
    expect(hookOf(withPoint({ args: [{ index: 5, type: 'auto' }] })).args[0]?.kind).toBe('auto');
  });

  it('should stand where its hook has one', () => {
    const call = (index: unknown) => refusedAt(withCall({ args: [{ index, type: 'int' }] }));
    const point = (index: unknown) => refusedAt(withPoint({ args: [{ index }] }));
    expect([0, 5].flatMap(call)).toEqual([]);
    expect([0, 63].flatMap(point)).toEqual([]);
    expect([-1, 6, 0.5, '0'].map(call)).toEqual(Array(4).fill([`${FIRST}.index invalid`]));
    expect([-1, 64].flatMap(point)).toEqual(
      Array(2).fill('spec.tracepoints[0].args[0].index invalid'),
    );
    const two = [
      { index: 1, type: 'int' },
      { index: 1, type: 'string' },
    ];
    expect(refusedAt(withCall({ args: two }))).toEqual(['spec.kprobes[0].args[1] invalid']);
  });

  it('should be one of five at most', () => {
    const args = Array.from({ length: 6 }, (_, index) => ({ index, type: 'int' }));
    expect(refusedAt(withCall({ args }))).toEqual(['spec.kprobes[0].args invalid']);
    expect(hookOf(withCall({ args: args.slice(1) })).args).toHaveLength(5);
  });

  it('should have a size when it is a buffer, counted from one, and only then', () => {
    const sized = (sizeArgIndex: unknown) => argument({ type: 'char_buf', sizeArgIndex });
    expect([1, 6].map((one) => hookOf(sized(one)).args[0])).toMatchObject([
      { kind: 'bytes', sizeIndex: 0 },
      { kind: 'bytes', sizeIndex: 5 },
    ]);
    expect([0, 7].map((one) => refusedAt(sized(one)))).toEqual(
      Array(2).fill([`${FIRST}.sizeArgIndex invalid`]),
    );
    expect(refusedAt(argument({ type: 'char_buf' }))).toEqual([`${FIRST} invalid`]);
    const other = argument({ type: 'string', sizeArgIndex: 1 });
    expect(refusedAt(other)).toEqual([`${FIRST}.sizeArgIndex invalid`]);
    const none = argument({ type: 'none', sizeArgIndex: 1 });
    expect(refusedAt(none)).toEqual([`${FIRST}.type invalid`]);
  });

  it.each(['resolve', 'source', 'btfType', 'overwriteType', 'returnCopy', 'maxData'])(
    'should be refused with what this engine cannot honour: %s',
    (field) => {
      expect(refusedAt(argument({ type: 'int', [field]: true }))).toEqual([
        `${FIRST}.${field} engine_cannot`,
      ]);
    },
  );

  it('should take a flag that says what is done anyway, and a label', () => {
    const text = argument({ type: 'int', returnCopy: false, maxData: false, label: 'a' });
    expect(hookOf(text).args[0]?.label).toBe('a');
    expect(refusedAt(argument({ type: 'int', label: 'x'.repeat(65) }))).toEqual([
      `${FIRST}.label invalid`,
    ]);
  });

  it('should be a kernel’s own object only where a hook of the LSM has it', () => {
    const lsm = (hook: string, type: string) => withLsm({ hook, args: [{ index: 0, type }] });
    expect(hookOf(lsm('file_open', 'file')).args[0]?.kind).toBe('file');
    expect(hookOf(lsm('bprm_check_security', 'linux_binprm')).args[0]?.kind).toBe('binprm');
    const wrong = ['spec.lsmhooks[0].args[0].type invalid'];
    expect(refusedAt(lsm('file_open', 'linux_binprm'))).toEqual(wrong);
    expect(refusedAt(lsm('bprm_check_security', 'int'))).toEqual(wrong);
    expect(refusedAt(argument({ type: 'file' }))).toEqual([`${FIRST}.type invalid`]);
    expect(refusedAt(argument({ type: 'linux_binprm' }))).toEqual([`${FIRST}.type invalid`]);
    expect(refusedAt(argument({ type: 'auto' }))).toEqual([`${FIRST}.type engine_cannot`]);
  });

  it('should not be judged where its hook is for another engine', () => {
    const other = { hook: 'socket_bind', args: [{ index: 0, type: 'file' }] };
    expect(refusedAt(withLsm(other))).toEqual(['spec.lsmhooks[0].hook engine_cannot']);
    const call = { call: 'tcp_connect', args: [{ index: 0, type: 'file' }] };
    expect(refusedAt(withCall(call))).toEqual(['spec.kprobes[0].call engine_cannot']);
  });
});

describe('what an argument is compared with', () => {
  const args = [
    { index: 3, type: 'string' },
    { index: 1, type: 'int' },
    { index: 2, type: 'uint8' },
    { index: 0, type: 'fd' },
  ];
  const compared = (match: Part, own: readonly Part[] = args) =>
    withCall({ args: own, selectors: [{ matchArgs: [match] }] });
  const numbers = (type: string, operator: string, ...values: unknown[]) =>
    compared({ index: 0, operator, values }, [{ index: 0, type }]);

  it.each([
    ['Equal', 'equal', false],
    ['NotEqual', 'equal', true],
    ['Prefix', 'prefix', false],
    ['NotPrefix', 'prefix', true],
    ['Postfix', 'postfix', false],
    ['NotPostfix', 'postfix', true],
  ])('should be text by %s', (operator, read, isNot) => {
    for (const index of [3, 0]) {
      expect(selectorOf(compared({ index, operator, values: ['/a', '/b'] })).args).toEqual([
        { slot: index === 3 ? 0 : 3, operator: read, isNot, values: ['/a', '/b'] },
      ]);
    }
    const ofNumber = ['Equal', 'NotEqual'].includes(operator) ? [] : [`${MATCH}.operator invalid`];
    expect(refusedAt(compared({ index: 1, operator, values: [1] }))).toEqual(ofNumber);
  });

  it.each([
    ['Equal', 'equal', false],
    ['NotEqual', 'equal', true],
    ['GreaterThan', 'above', false],
    ['GT', 'above', false],
    ['LessThan', 'below', false],
    ['LT', 'below', false],
    ['Mask', 'mask', false],
    ['InRange', 'range', false],
    ['NotInRange', 'range', true],
  ])('should be numbers by %s', (operator, read, isNot) => {
    const value = read === 'range' ? '1:2' : '12';
    expect(selectorOf(compared({ index: 1, operator, values: [value] })).args).toEqual([
      { slot: 1, operator: read, isNot, values: [value] },
    ]);
    const ofText = ['Equal', 'NotEqual'].includes(operator) ? [] : [`${MATCH}.operator invalid`];
    expect(refusedAt(compared({ index: 3, operator, values: ['a'] }))).toEqual(ofText);
  });

  const OTHERS =
    'SAddr NotSAddr DAddr NotDAddr SPort NotSPort DPort NotDPort SPortPriv NotSPortPriv DPortPriv ' +
    'NotDPortPriv Protocol Family State InMap NotInMap CapabilitiesGained SubString SubStringIgnCase ' +
    'FileType NotFileType';
  it.each(OTHERS.split(' '))('should be left to other engines by %s', (operator) => {
    expect(refusedAt(compared({ index: 3, operator, values: ['a'] }))).toEqual([
      `${MATCH}.operator engine_cannot`,
    ]);
  });

  it('should be refused without an operator, values or an argument', () => {
    expect(reasonsOf(compared({}))).toEqual([
      ...['index is missing', 'operator is missing', 'values is missing'],
    ]);
    expect(reasonsOf(compared({ index: 1, values: [1] }))).toEqual(['operator is missing']);
    expect(reasonsOf(compared({ index: 3, operator: 'LT', values: ['a'] }))).toEqual([
      'of this argument the ebpf engine honours Equal, NotEqual, Prefix, NotPrefix, Postfix, NotPostfix',
    ]);
    const changed = (change: Part) =>
      refusedAt(compared({ index: 1, operator: 'Equal', values: [1], ...change }));
    expect(changed({ index: 4 })).toEqual([`${MATCH}.index invalid`]);
    expect(changed({ index: 64 })).toEqual([`${MATCH}.index invalid`]);
    expect(changed({ values: [] })).toEqual([`${MATCH}.values invalid`]);
    expect(changed({ values: [1, 2, 3, 4, 5] })).toEqual([`${MATCH}.values invalid`]);
    expect(changed({ args: [0] })).toEqual([`${MATCH}.args invalid`]);
    expect(changed({ operator: 'toString' })).toEqual([`${MATCH}.operator invalid`]);
  });

  it('should name its argument by the place in the list as well', () => {
    const at = (place: unknown) => compared({ args: place, operator: 'Equal', values: ['1'] });
    expect(selectorOf(at([1])).args[0]?.slot).toBe(1);
    expect(selectorOf(at([3])).args[0]?.slot).toBe(3);
    expect(refusedAt(at([4]))).toEqual([`${MATCH}.args[0] invalid`]);
    expect(refusedAt(at([5]))).toEqual([`${MATCH}.args[0] invalid`]);
    expect(refusedAt(at([-1]))).toEqual([`${MATCH}.args[0] invalid`]);
    expect(refusedAt(at([0, 1]))).toEqual([`${MATCH}.args invalid`]);
  });

  it('should say nothing more of an argument that is refused itself', () => {
    const broken = [{ index: 0, type: 'none' }];
    expect(refusedAt(compared({ index: 7, operator: 'Equal', values: [1] }, broken))).toEqual([
      `${FIRST}.type invalid`,
    ]);
    const nowhere = compared({ index: 7, operator: 'Equal', values: [1] }, [{ type: 'int' }]);
    expect(reasonsOf(nowhere)).toEqual(['index is missing']);
  });

  it('should need a type where the kernel describes the argument', () => {
    const selectors = [{ matchArgs: [{ index: 0, operator: 'Equal', values: ['1'] }] }];
    expect(refusedAt(withPoint({ args: [{ index: 0 }], selectors }))).toEqual([
      'spec.tracepoints[0].selectors[0].matchArgs[0] invalid',
    ]);
  });

  it.each([
    ['int8', '-128', '127', '-129', '128'],
    ['uint8', '0', '255', '-1', '256'],
    ['int16', '-32768', '32767', '-32769', '32768'],
    ['uint16', '0', '65535', '-1', '65536'],
    ['int', '-2147483648', '2147483647', '-2147483649', '2147483648'],
    ['uint32', '0', '4294967295', '-1', '4294967296'],
    ['long', '-9223372036854775808', '9223372036854775807', '-9223372036854775809', '1e3'],
    ['ulong', '0', '18446744073709551615', '-1', '18446744073709551616'],
  ])('should lie within what %s can hold', (type, low, high, ...outside) => {
    const text = numbers(type, 'Equal', low, high);
    expect(selectorOf(text).args[0]?.values).toEqual([low, high]);
    expect(refusedAt(numbers(type, 'InRange', `${low}:${high}`))).toEqual([]);
    for (const one of outside) {
      expect(refusedAt(numbers(type, 'Equal', one))).toEqual([`${MATCH}.values[0] invalid`]);
    }
  });

  it('should be a mask without a sign', () => {
    expect(selectorOf(numbers('int8', 'Mask', '255')).args[0]?.values).toEqual(['255']);
    expect(refusedAt(numbers('int8', 'Mask', '-1'))).toEqual([`${MATCH}.values[0] invalid`]);
    expect(refusedAt(numbers('int8', 'Mask', '256'))).toEqual([`${MATCH}.values[0] invalid`]);
  });

  it('should be written in tens, sixteens or eights, as text or number', () => {
    const text = numbers('int', 'Equal', '0x1F', '017', -3, ' 4 ');
    expect(selectorOf(text).args[0]?.values).toEqual(['31', '15', '-3', '4']);
    expect(selectorOf(numbers('int', 'InRange', '0:0', '1: 0x2')).args[0]?.values).toEqual([
      ...['0:0', '1:2'],
    ]);
    for (const wrong of ['', 'x', '08', '+1', '1.5', '0x', '0xg', 'x0x1', '1 2', true, null, [1]]) {
      expect(refusedAt(numbers('int', 'Equal', wrong))).toEqual([`${MATCH}.values[0] invalid`]);
    }
  });

  it('should be a number or a range, whichever its operator wants', () => {
    for (const wrong of ['1', '1:2:3', '2:1', ':1', 'a:1']) {
      expect(refusedAt(numbers('int', 'InRange', wrong))).toEqual([`${MATCH}.values[0] invalid`]);
    }
    expect(reasonsOf(numbers('int8', 'InRange', '1'))).toEqual([
      'must be two numbers (low:high) between -128 and 127',
    ]);
    expect(reasonsOf(numbers('uint8', 'Equal', '1:2'))).toEqual([
      'must be a number between 0 and 255',
    ]);
  });

  it('should be as long as the engine keeps it, in bytes', () => {
    const text = (operator: string, value: string) =>
      refusedAt(compared({ index: 3, operator, values: [value] }));
    expect(text('Prefix', 'é'.repeat(128))).toEqual([]);
    expect(text('Postfix', 'é'.repeat(64))).toEqual([]);
    expect(text('Prefix', 'x'.repeat(257))).toEqual([`${MATCH}.values[0] invalid`]);
    expect(text('Equal', 'é'.repeat(129))).toEqual([`${MATCH}.values[0] invalid`]);
    expect(text('Postfix', 'x'.repeat(129))).toEqual([`${MATCH}.values[0] invalid`]);
    expect(text('Postfix', 'é'.repeat(65))).toEqual([`${MATCH}.values[0] invalid`]);
  });

  it.each(['', 'a\nb', 'a\u007fb', '\ud800'])('should not be a text that is none: %j', (value) => {
    expect(refusedAt(compared({ index: 3, operator: 'Equal', values: [value] }))).toEqual([
      `${MATCH}.values[0] invalid`,
    ]);
  });
});
