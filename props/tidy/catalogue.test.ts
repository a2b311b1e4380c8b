import { describe, expect, it } from 'vitest';
import * as accessLimits from '../../machines/access-limits.ts';
import * as loopLimits from '../../machines/console/runtime/loop-limits.ts';
import { ERRORS } from '../../machines/errors.ts';
import * as specifiedLimits from '../../machines/limits.ts';
import * as pipelineLimits from '../../machines/pipeline-limits.ts';
import * as ebpfLimits from '../../machines/sensor/ebpf-limits.ts';
import * as policyLimits from '../../machines/sensor/policy-limits.ts';
import * as tetragonLimits from '../../machines/sensor/tetragon-limits.ts';
import { filesLike, textOf } from './files.ts';
import { LATER_CODES, LATER_LIMITS } from './later.ts';

const sources = filesLike(/^(machines|actors|gateway|storage|sensor)\/.*\.ts$/).filter(
  (path) => !path.endsWith('.test.ts'),
);
const used = (word: string, except: string) =>
  sources.some((path) => path !== except && new RegExp(`\\b${word}\\b`).test(textOf(path)));

describe('error catalogue', () => {
  it('should hold only codes that are documented in the README', () => {
    const readme = textOf('gateway/ERRORS.md');
    expect(Object.keys(ERRORS).filter((code) => !readme.includes(`\`${code}\``))).toEqual([]);
    const documented = [...readme.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code]) => code ?? '');
    expect(documented.length).toBe(Object.keys(ERRORS).length);
    expect(documented.filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
  });

  it('should hold only codes that are in use, but for those of later capabilities', () => {
    const unused = Object.keys(ERRORS).filter((code) => !used(code, 'machines/errors.ts'));
    expect(unused).toEqual([...LATER_CODES].sort((a, b) => unused.indexOf(a) - unused.indexOf(b)));
  });
});

const fileOf = (name: string) => {
  if (Object.hasOwn(loopLimits, name)) return 'machines/console/runtime/loop-limits.ts';
  if (Object.hasOwn(tetragonLimits, name)) return 'machines/sensor/tetragon-limits.ts';
  if (Object.hasOwn(ebpfLimits, name)) return 'machines/sensor/ebpf-limits.ts';
  if (Object.hasOwn(policyLimits, name)) return 'machines/sensor/policy-limits.ts';
  if (Object.hasOwn(accessLimits, name)) return 'machines/access-limits.ts';
  return Object.hasOwn(pipelineLimits, name) ? 'machines/pipeline-limits.ts' : 'machines/limits.ts';
};
const limits = {
  ...specifiedLimits,
  ...pipelineLimits,
  ...loopLimits,
  ...accessLimits,
  ...policyLimits,
  ...tetragonLimits,
  ...ebpfLimits,
};

describe('limits', () => {
  it('should all be documented with their values', () => {
    const rows = [
      ...textOf('machines/LIMITS.md').matchAll(/^\| `([A-Z0-9_]+)` +\| ([\d,.]+) +\|/gm),
    ];
    const documented = Object.fromEntries(
      rows.map(([, name, value]) => [name ?? '', Number(value?.replaceAll(',', ''))]),
    );
    const actual = Object.entries(limits).filter(([, value]) => typeof value === 'number');
    expect(documented).toEqual(Object.fromEntries(actual));
  });

  it('should all be used, but for those of later capabilities', () => {
    const names = Object.keys(limits).filter(
      (name) => /^[A-Z][A-Z0-9_]+$/.test(name) && name !== 'INTERVALS',
    );
    const unused = names.filter((name) => !used(name, fileOf(name)));
    expect(unused.sort()).toEqual([...LATER_LIMITS].sort());
  });
});
