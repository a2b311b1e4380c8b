import { describe, expect, it } from 'vitest';
import { type PolicyText, readPolicy, renamed } from './policy-text.ts';

const yaml = (mode: string, call = 'sys_write') => `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata:
  name: watch-files # kept
spec:
  options:
    - name: policy-mode
      value: ${mode}
    - name: disable-kprobe-multi
      value: "1"
  kprobes:
    - call: ${call}
      syscall: true
`;
function read(text: string): PolicyText {
  const reading = readPolicy(text);
  if (!reading.ok) throw new Error(reading.reason);
  return reading.policy;
}

describe('the text of a policy', () => {
  it('should give its name, its mode, and the rest apart from the mode', () => {
    const [enforcing, monitoring, other] = [
      read(yaml('enforce')),
      read(yaml('monitor')),
      read(yaml('enforce', 'sys_read')),
    ];
    expect(enforcing).toMatchObject({
      name: 'watch-files',
      namespace: '',
      mode: 'TP_MODE_ENFORCE',
    });
    expect(monitoring.mode).toBe('TP_MODE_MONITOR');
    expect(monitoring.rest).toBe(enforcing.rest);
    expect(other.rest).not.toBe(enforcing.rest);
    const fewer = read(yaml('enforce').replace(/ {4}- name: disable[^\n]*\n[^\n]*\n/, ''));
    expect(fewer.rest).not.toBe(enforcing.rest);
  });

  it('should take another name and change nothing else', () => {
    const before = read(yaml('monitor'));
    const after = read(renamed(before, 'watch-files-next'));
    expect(after.name).toBe('watch-files-next');
    expect(after.rest).toBe(before.rest.replace('"watch-files"', '"watch-files-next"'));
    expect(after.yaml).toContain('# kept');
  });

  it.each([
    ['nothing', '', /kind/],
    ['no YAML', 'a: [', /./],
    ['another kind', yaml('enforce').replace('kind: TracingPolicy', 'kind: Pod'), /kind/],
    ['no name', yaml('enforce').replace('name: watch-files', 'x: y'), /metadata.name/],
    ['a name that climbs', yaml('enforce').replace('watch-files', '../x'), /metadata.name/],
    ['too much', `# ${'x'.repeat(1_048_577)}`, /too large/],
    ['a bomb', `a: &a [1]\nkind: TracingPolicy\nmetadata: {name: x}\nb: *a`, /kind/],
  ])('should be refused when it holds %s', (_, text, reason) => {
    expect(readPolicy(text)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});
