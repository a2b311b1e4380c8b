// The root of the Sensor, transition by transition. invariant: I12
import { describe, expect, it } from 'vitest';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import type { Prepared } from '../../machines/sensor/node.rules.ts';
import { type Driven, drive } from '../models/driver.ts';

const INPUT = { tokenCheckMs: 1_000, stopTimeoutMs: 5_000 };
const ENROLLED = { kind: 'enrolled', sensorId: 'sensor-1', notAfterMs: 1 };
const REFUSED = { kind: 'refused', code: 'token_invalid', detail: 'unknown' };
const WHY =
  'token_invalid: unknown; check that the token is of this Console, or make a new one on the Console: service-console tokens create';
type Node = Driven<typeof nodeMachine>;

const begin = (): Node => drive(nodeMachine, INPUT);
function found(identity: Prepared['identity'], hasToken = false): Node {
  const node = begin();
  node.done('prepare', { identity, hasToken, isReenrollment: false, reason: `it is ${identity}` });
  return node;
}
const value = (node: Node) => node.snapshot().value;
const tags = (node: Node) =>
  ['forwards', 'collects'].filter((tag) => node.snapshot().hasTag(tag as 'forwards'));
const told = (node: Node) =>
  node.takeEffects().map(({ type, params }) => {
    const { state, reason } = (params ?? {}) as { state?: string; reason?: string };
    return [type, state ?? reason].filter((part) => part !== undefined).join(' ');
  });
const ended = (node: Node) => ({ at: value(node), ...node.snapshot().output });

describe('node: beginning', () => {
  it('should prepare first and do nothing else', () => {
    const node = begin();
    expect([value(node), node.running(), tags(node), told(node)]).toEqual([
      'preparing',
      ['prepare'],
      [],
      [],
    ]);
    expect(node.snapshot().context).toEqual({ ...INPUT, step: null, exitCode: 0, reason: null });
  });

  it('should run with a whole identity', () => {
    const node = found('whole');
    expect([value(node), node.running(), tags(node), told(node)]).toEqual([
      'running',
      ['startCollecting'],
      ['forwards', 'collects'],
      ['startForwarding', 'tellState running'],
    ]);
  });

  it('should enroll with a token', () => {
    const node = found('none', true);
    expect([value(node), node.running(), tags(node), told(node)]).toEqual([
      'enrolling',
      ['enroll'],
      [],
      ['tellState enrolling'],
    ]);
  });

  it('should collect and look for a token with an expired identity', () => {
    const node = found('expired');
    expect([value(node), node.running(), tags(node), told(node)]).toEqual([
      { awaiting_reenrollment: 'looking' },
      ['lookForToken', 'startCollecting'],
      ['collects'],
      ['tellState awaiting_reenrollment'],
    ]);
  });

  it('should stay revoked and say so', () => {
    const node = found('revoked');
    expect([value(node), node.running(), tags(node), told(node)]).toEqual([
      'revoked',
      [],
      [],
      ['rememberRevoked', 'stopCollecting', 'tellState revoked'],
    ]);
  });

  it('should fail with what was found and no token, after all is stopped', () => {
    for (const identity of ['none', 'broken'] as const) {
      const node = found(identity);
      expect([value(node), node.running()]).toEqual(['failing', ['stopEverything']]);
      node.done('stopEverything');
      expect(ended(node)).toEqual({ at: 'failed', exitCode: 6, reason: `it is ${identity}` });
    }
  });

  it('should fail when preparing fails or finds nothing it can name', () => {
    const broken = begin();
    broken.fail('prepare', new Error('read-only'));
    broken.done('stopEverything');
    expect(ended(broken)).toEqual({ at: 'failed', exitCode: 1, reason: 'read-only' });
    const torn = begin();
    torn.fail('prepare', 'torn');
    torn.fail('stopEverything');
    expect(ended(torn)).toEqual({ at: 'failed', exitCode: 1, reason: 'torn' });
    const nothing = begin();
    nothing.done('prepare');
    expect(nothing.snapshot().context.step).toBeNull();
    nothing.advance(INPUT.stopTimeoutMs - 1);
    expect(value(nothing)).toBe('failing');
    nothing.advance(1);
    expect(ended(nothing)).toEqual({
      at: 'failed',
      exitCode: 6,
      reason: 'this node is not enrolled',
    });
  });
});

describe('node: enrolling', () => {
  it('should run once it is enrolled', () => {
    const node = found('none', true);
    node.done('enroll', ENROLLED);
    expect(value(node)).toBe('running');
  });

  it('should fail with the refusal, or with what broke', () => {
    const refused = found('none', true);
    refused.done('enroll', REFUSED);
    refused.done('stopEverything');
    expect(ended(refused)).toEqual({ at: 'failed', exitCode: 6, reason: WHY });
    const broken = found('none', true);
    broken.fail('enroll', new Error('no key'));
    broken.done('stopEverything');
    expect(ended(broken)).toEqual({ at: 'failed', exitCode: 1, reason: 'no key' });
    const nothing = found('none', true);
    nothing.done('enroll');
    expect([value(nothing), nothing.snapshot().context.exitCode]).toEqual(['failing', 7]);
  });
});

describe('node: running', () => {
  it.each([
    [
      'certificate.expired',
      { awaiting_reenrollment: 'looking' },
      'tellState awaiting_reenrollment',
    ],
    ['sensor.revoked', 'revoked', 'rememberRevoked'],
  ])('should after %s stop forwarding before anything else', (type, expected, next) => {
    const node = found('whole');
    told(node);
    node.send({ type });
    expect(value(node)).toEqual(expected);
    expect(told(node).slice(0, 2)).toEqual(['stopForwarding', next]);
  });

  it('should go on when collecting has begun, and fail when it cannot', () => {
    const node = found('whole');
    node.done('startCollecting');
    expect(value(node)).toBe('running');
    for (const identity of ['whole', 'expired'] as const) {
      const broken = found(identity);
      broken.fail('startCollecting', new Error('no spool'));
      broken.done('stopEverything');
      expect(ended(broken)).toEqual({ at: 'failed', exitCode: 1, reason: 'no spool' });
    }
  });

  it('should stop from every state that rests, and end well however the stop goes', () => {
    const states = [
      begin(),
      found('none', true),
      found('whole'),
      found('expired'),
      found('revoked'),
    ];
    const ends: readonly ((node: Node) => void)[] = [
      (node) => node.done('stopEverything'),
      (node) => node.fail('stopEverything'),
      (node) => node.advance(INPUT.stopTimeoutMs),
    ];
    states.forEach((node, index) => {
      node.send({ type: 'stop.requested' });
      expect([value(node), node.running(), tags(node)]).toEqual([
        'stopping',
        ['stopEverything'],
        [],
      ]);
      ends[index % ends.length]?.(node);
      expect(ended(node)).toMatchObject({ at: 'stopped', exitCode: 0 });
    });
  });
});

describe('node: awaiting re-enrollment', () => {
  const at = (node: Node) =>
    (value(node) as { awaiting_reenrollment: string }).awaiting_reenrollment;

  it('should look again after a while until there is a token', () => {
    const node = found('expired');
    node.done('lookForToken', false);
    expect(at(node)).toBe('sleeping');
    node.advance(INPUT.tokenCheckMs - 1);
    expect(at(node)).toBe('sleeping');
    node.advance(1);
    expect(at(node)).toBe('looking');
    node.fail('lookForToken');
    expect(at(node)).toBe('sleeping');
    node.advance(INPUT.tokenCheckMs);
    node.done('lookForToken', true);
    expect([at(node), node.running()]).toEqual(['exchanging', ['enroll', 'startCollecting']]);
    node.done('enroll', ENROLLED);
    expect(value(node)).toBe('running');
  });

  it('should sleep after a refusal and say why', () => {
    const node = found('expired');
    node.done('lookForToken', true);
    told(node);
    node.done('enroll', REFUSED);
    expect([at(node), told(node)]).toEqual(['sleeping', [`tellRefused ${WHY}`]]);
    node.advance(INPUT.tokenCheckMs);
    node.done('lookForToken', true);
    node.fail('enroll');
    expect([at(node), told(node)]).toEqual(['sleeping', []]);
  });

  it('should be revoked when the Console says so', () => {
    const node = found('expired');
    node.send({ type: 'sensor.revoked' });
    expect(value(node)).toBe('revoked');
  });
});
