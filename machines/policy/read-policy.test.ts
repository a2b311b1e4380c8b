// What a document is read as around its arguments and selectors, and what of it is refused where. decision: D45, D80
import { describe, expect, it } from 'vitest';
import {
  CALL,
  documentOf,
  hookOf,
  LSM,
  POINT,
  policyOf,
  reasonsOf,
  refusedAt,
  withCall,
  withLsm,
  withPoint,
  withSpec,
} from '../../props/policies/policy-text.ts';
import { signalName } from './linux-numbers.ts';
import { sentenceOfRefusal } from './located.ts';

describe('the document of a policy', () => {
  it('should have a version, a kind, a name and a hook', () => {
    expect(policyOf(documentOf())).toMatchObject({ name: 'one', mode: 'enforce', hooks: [{}] });
    expect(reasonsOf('{}')).toEqual([
      ...['apiVersion is missing', 'kind is missing', 'metadata is missing', 'spec is missing'],
    ]);
    expect(reasonsOf(documentOf({ metadata: {} }))).toEqual(['name is missing']);
    expect(refusedAt(documentOf({ spec: {} }))).toEqual(['spec invalid']);
    expect(refusedAt(documentOf({ apiVersion: 'cilium.io/v2' }))).toEqual(['apiVersion invalid']);
    expect(refusedAt(documentOf({ kind: ['TracingPolicy'] }))).toEqual(['kind invalid']);
    expect(refusedAt(documentOf({ spec: 'a' }))).toEqual(['spec invalid', 'spec invalid']);
    expect(refusedAt(documentOf({ surprise: 1 }))).toEqual(['surprise invalid']);
    expect(reasonsOf('a')).toEqual(['must be a mapping']);
  });

  it('should have a name that can be a file, and may have notes', () => {
    const named = (metadata: unknown) => refusedAt(documentOf({ metadata }));
    expect(named({ name: 'a'.repeat(63), labels: {}, annotations: { a: 'b' } })).toEqual([]);
    expect(named({ name: 'a'.repeat(64) })).toEqual(['metadata.name invalid']);
    expect(named({ name: 'x'.repeat(257) })).toEqual(['metadata.name invalid']);
    expect(named({ name: 7 })).toEqual(['metadata.name invalid']);
    expect(named({ name: 'a', labels: [] })).toEqual(['metadata.labels invalid']);
    expect(named({ name: 'a', annotations: 'a' })).toEqual(['metadata.annotations invalid']);
    expect(named({ name: 'a', namespace: 'b' })).toEqual(['metadata.namespace engine_cannot']);
    expect(named([])).toEqual(['metadata invalid']);
  });

  it.each([
    ...['loader', 'uprobes', 'usdts', 'fentries', 'podSelector', 'containerSelector'],
    ...['hostSelector', 'lists', 'enforcers', 'selectorsMacros'],
  ])('should be left to other engines with %s', (name) => {
    expect(refusedAt(withSpec({ [name]: [] }))).toEqual([`spec.${name} engine_cannot`]);
  });

  it('should say once whether it enforces or only tells', () => {
    const mode = (...options: unknown[]) => withSpec({ options });
    const is = (value: string) => ({ name: 'policy-mode', value });
    expect(policyOf(mode(is('monitor'))).mode).toBe('monitor');
    expect(policyOf(mode(is('enforce'))).mode).toBe('enforce');
    expect(policyOf(mode()).mode).toBe('enforce');
    const at = 'spec.options[0]';
    expect(refusedAt(mode(is('audit')))).toEqual([`${at}.value invalid`]);
    expect(refusedAt(mode(is('monitor'), is('monitor')))).toEqual(['spec.options[1].name invalid']);
    expect(refusedAt(mode({ name: 'other', value: '1' }))).toEqual([`${at}.name engine_cannot`]);
    expect(reasonsOf(mode({}))).toEqual(['name is missing', 'value is missing']);
    expect(reasonsOf(mode({ value: 'monitor' }))).toEqual(['name is missing']);
    expect(refusedAt(mode({ ...is('monitor'), more: 1 }))).toEqual([`${at}.more invalid`]);
    expect(refusedAt(mode({ name: 'policy-mode', value: 1 }))).toEqual([`${at}.value invalid`]);
  });

  it('should have sixteen hooks at most, of all kinds together, in their order', () => {
    const spec = (calls: number, points: number, lsm: number) =>
      documentOf({
        spec: {
          lsmhooks: Array(lsm).fill(LSM),
          tracepoints: Array(points).fill(POINT),
          kprobes: Array(calls).fill(CALL),
        },
      });
    const kinds = policyOf(spec(10, 5, 1)).hooks.map(({ kind }) => kind);
    expect(kinds).toEqual([...Array(10).fill('call'), ...Array(5).fill('tracepoint'), 'lsm']);
    expect(refusedAt(spec(10, 5, 2))).toEqual(['spec invalid']);
    expect(refusedAt(spec(17, 0, 0))).toEqual(['spec.kprobes invalid', 'spec invalid']);
    expect(refusedAt(spec(0, 0, 0))).toEqual(['spec invalid']);
  });

  it('should be told of twenty mistakes at most', () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x${at}`, 1]));
    expect(refusedAt(documentOf(fields))).toHaveLength(20);
  });

  it('should be told of a mistake by field, line and column', () => {
    const refusal = {
      path: 'a.b',
      line: 3,
      column: 7,
      reason: 'is wrong',
      code: 'invalid',
    } as const;
    expect(sentenceOfRefusal(refusal)).toBe('a.b: is wrong (line 3, column 7)');
    expect(sentenceOfRefusal({ ...refusal, path: '' })).toBe('is wrong (line 3, column 7)');
  });
});

describe('a hook', () => {
  const AT = 'spec.kprobes[0]';

  it('should be a system call, under either of its names', () => {
    const hook = (call: string) => hookOf(withCall({ call }));
    expect(hook('sys_read')).toMatchObject({ kind: 'call', category: 'syscalls', event: 'read' });
    expect(hook('__x64_sys_read').event).toBe('read');
    expect(hook(`sys_${'a'.repeat(40)}`).event).toHaveLength(40);
    for (const call of ['tcp_connect', 'sys_Read', `sys_${'a'.repeat(41)}`, '__x32_sys_a', 'a.b']) {
      expect(refusedAt(withCall({ call }))).toEqual([`${AT}.call engine_cannot`]);
    }
    for (const call of ['', 'a b', '9a', 'a-b', 'é', ' sys_read', 'sys_read!', 'x'.repeat(129)]) {
      expect(refusedAt(withCall({ call }))).toEqual([`${AT}.call invalid`]);
    }
    expect(reasonsOf(withSpec({ kprobes: [{}] }))).toEqual(['call is missing']);
  });

  it('should be no other function of the kernel, and not look at what is returned', () => {
    expect(refusedAt(withCall({ syscall: false }))).toEqual([`${AT}.syscall engine_cannot`]);
    expect(refusedAt(withCall({ syscall: 1 }))).toContain(`${AT}.syscall invalid`);
    expect(refusedAt(withSpec({ kprobes: [{ call: 'sys_read' }] }))).toEqual([]);
    for (const field of ['returnArg', 'returnArgAction', 'data', 'return']) {
      expect(refusedAt(withCall({ [field]: true }))).toEqual([`${AT}.${field} engine_cannot`]);
    }
    expect(refusedAt(withCall({ return: false }))).toEqual([]);
    expect(refusedAt(withCall({ ignore: { callNotFound: false } }))).toEqual([]);
    expect(refusedAt(withCall({ ignore: { callNotFound: true } }))).toEqual([
      `${AT}.ignore.callNotFound engine_cannot`,
    ]);
    expect(refusedAt(withCall({ ignore: { other: true } }))).toEqual([
      `${AT}.ignore.other invalid`,
    ]);
  });

  it('should be a tracepoint by its two names', () => {
    const at = 'spec.tracepoints[0]';
    expect(hookOf(withPoint({ raw: false }))).toMatchObject({
      ...{ kind: 'tracepoint', category: 'sched', event: 'sched_process_exec' },
    });
    expect(refusedAt(withPoint({ raw: true }))).toEqual([`${at}.raw engine_cannot`]);
    expect(refusedAt(withPoint({ event: 'a'.repeat(48), subsystem: 'a' }))).toEqual([]);
    for (const name of ['', 'A', '9', 'a-b', ' a', 'a ', 'a'.repeat(49)]) {
      expect(refusedAt(withPoint({ event: name }))).toEqual([`${at}.event invalid`]);
      expect(refusedAt(withPoint({ subsystem: name }))).toEqual([`${at}.subsystem invalid`]);
    }
    expect(reasonsOf(documentOf({ spec: { tracepoints: [{}] } }))).toEqual([
      ...['subsystem is missing', 'event is missing'],
    ]);
  });

  it('should be a hook of the LSM that this engine has', () => {
    const at = 'spec.lsmhooks[0].hook';
    expect(hookOf(withLsm({}))).toMatchObject({ kind: 'lsm', category: 'lsm', event: 'file_open' });
    expect(hookOf(withLsm({ hook: 'bprm_check_security' })).event).toBe('bprm_check_security');
    expect(refusedAt(withLsm({ hook: 'socket_bind' }))).toEqual([`${at} engine_cannot`]);
    expect(refusedAt(withLsm({ hook: 'toString' }))).toEqual([`${at} engine_cannot`]);
    expect(refusedAt(withLsm({ hook: 'a b' }))).toEqual([`${at} invalid`]);
    expect(reasonsOf(documentOf({ spec: { lsmhooks: [{}] } }))).toEqual(['hook is missing']);
    expect(refusedAt(withLsm({ call: 'a' }))).toEqual(['spec.lsmhooks[0].call invalid']);
  });

  it('should carry a message and tags, but not those the engine says itself', () => {
    expect(hookOf(withCall({}))).toMatchObject({ message: null, tags: [], args: [] });
    const full = { message: 'm'.repeat(256), tags: Array(16).fill('t'.repeat(128)) };
    expect(hookOf(withCall(full))).toMatchObject(full);
    expect(refusedAt(withCall({ message: 'm'.repeat(257) }))).toEqual([`${AT}.message invalid`]);
    expect(refusedAt(withCall({ tags: ['t'.repeat(129)] }))).toEqual([`${AT}.tags[0] invalid`]);
    expect(refusedAt(withCall({ tags: Array(17).fill('t') }))).toEqual([`${AT}.tags invalid`]);
    expect(refusedAt(withCall({ tags: ['monitored.x'] }))).toEqual([`${AT}.tags[0] invalid`]);
    expect(hookOf(withCall({ tags: ['un', 'is monitored.'] })).tags).toEqual([
      ...['un', 'is monitored.'],
    ]);
  });
});

describe('a signal', () => {
  it('should be called as the kernel calls it, or by its number', () => {
    // As the kernel counts them in asm-generic/signal.h.
    const names =
      'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP ' +
      'TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS';
    for (const [at, name] of names.split(' ').entries()) {
      expect(signalName(at + 1)).toBe(`SIG${name}`);
    }
    expect(signalName(64)).toBe('SIGRTMAX');
    expect(signalName(40)).toBe('signal 40');
  });
});
