// Tracing policies: what this engine can carry out is read back whole however it is written down; a field more, or bytes
// that nobody would write, are refused with a place. decision: D45
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parsePolicy } from '../../actors/runtime/parse-policy.ts';
import {
  type ArgumentKind,
  CAPABILITIES,
  NAMESPACES,
  type Policy,
  type PolicyHook,
  type PolicySelector,
} from '../../machines/policy/policy.ts';
import { anyCharacter } from '../any-character.ts';

const KINDS: Readonly<Record<string, ArgumentKind>> = {
  int: 's32',
  uint64: 'u64',
  fd: 'fd',
  string: 'text',
};
const TYPES = Object.fromEntries(Object.entries(KINDS).map(([type, kind]) => [kind, type]));
const anyText = fc
  .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
  .filter((text) => /^[^\p{Cc}]+$/u.test(text) && text.isWellFormed())
  .filter((text) => text.length <= 60);
const anyName = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,62}$/);
const some = <T>(one: fc.Arbitrary<T>, max: number, min = 0) =>
  fc.array(one, { minLength: min, maxLength: max });
const operators = ['equal', 'prefix', 'postfix'] as const;

const anySelector = (kinds: readonly string[]): fc.Arbitrary<PolicySelector> =>
  fc.record({
    pids: fc.option(
      fc.record({
        isNot: fc.boolean(),
        isOwn: fc.boolean(),
        values: some(fc.nat(4_194_304), 4, 1),
      }),
    ),
    binaries: fc.option(
      fc.record({
        operator: fc.constantFrom(...operators),
        isNot: fc.boolean(),
        values: some(anyText, 8, 1),
      }),
    ),
    namespaces: some(
      fc.record({
        kind: fc.nat(NAMESPACES.length - 1),
        isNot: fc.boolean(),
        values: some(
          fc.oneof(fc.integer({ min: 1, max: 4_294_967_295 }), fc.constant('host' as const)),
          4,
          1,
        ),
      }),
      3,
    ),
    capabilities: some(
      fc.record({
        set: fc.constantFrom('effective' as const, 'permitted' as const, 'inheritable' as const),
        isNot: fc.boolean(),
        values: some(fc.nat(CAPABILITIES.length - 1), 5, 1),
      }),
      4,
    ),
    args:
      kinds.length === 0
        ? fc.constant([])
        : some(
            fc.nat(kinds.length - 1).chain((slot) => anyMatch(slot, kinds[slot] ?? '')),
            5,
          ),
    isSilent: fc.boolean(),
    signal: fc.nat(64),
    override: fc.constant(0),
  });

function anyMatch(slot: number, kind: string): fc.Arbitrary<PolicySelector['args'][number]> {
  const number = kind === 's32' ? fc.integer() : fc.nat();
  return /^[su]\d/.test(kind)
    ? fc.record({
        slot: fc.constant(slot),
        operator: fc.constant('equal' as const),
        isNot: fc.boolean(),
        values: some(number.map(String), 4, 1),
      })
    : fc.record({
        slot: fc.constant(slot),
        operator: fc.constantFrom(...operators),
        isNot: fc.boolean(),
        values: some(anyText, 4, 1),
      });
}

const anyHook: fc.Arbitrary<PolicyHook> = some(fc.constantFrom(...Object.values(KINDS)), 5).chain(
  (kinds) =>
    fc.record({
      kind: fc.constant('call' as const),
      category: fc.constant('syscalls'),
      event: fc.constantFrom('write', 'openat', 'unlinkat'),
      message: fc.option(anyText),
      tags: some(anyText, 3),
      args: fc.tuple(
        ...kinds.map((kind, index) =>
          fc.record({
            index: fc.constant(index),
            kind: fc.constant(kind),
            sizeIndex: fc.constant(null),
            label: fc.option(anyText),
          }),
        ),
      ),
      selectors: some(anySelector(kinds), 3, 1),
    }),
);
const anyPolicy: fc.Arbitrary<Policy> = fc.record({
  name: anyName,
  mode: fc.constantFrom('enforce' as const, 'monitor' as const),
  hooks: some(anyHook, 2, 1),
});

const within = (isNot: boolean) => (isNot ? 'NotIn' : 'In');
const word = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

function selectorOf(selector: PolicySelector, hook: PolicyHook): object {
  const { pids, binaries, signal, isSilent } = selector;
  const operator = binaries?.operator === 'equal' ? within(binaries.isNot) : undefined;
  return {
    ...(pids && {
      matchPIDs: [
        { operator: within(pids.isNot), values: pids.values, isNamespacePID: pids.isOwn },
      ],
    }),
    ...(binaries && {
      matchBinaries: [
        {
          operator: operator ?? `${binaries.isNot ? 'Not' : ''}${word(binaries.operator)}`,
          values: binaries.values,
        },
      ],
    }),
    matchNamespaces: selector.namespaces.map(({ kind, isNot, values }) => ({
      namespace: NAMESPACES[kind],
      operator: within(isNot),
      values: values.map((value) => (value === 'host' ? 'host_ns' : `${value}`)),
    })),
    matchCapabilities: selector.capabilities.map(({ set, isNot, values }) => ({
      type: word(set),
      operator: within(isNot),
      values: values.map((value) => CAPABILITIES[value]),
    })),
    matchArgs: selector.args.map(({ slot, operator: own, isNot, values }) => ({
      index: hook.args[slot]?.index,
      operator: `${isNot ? 'Not' : ''}${word(own)}`,
      values,
    })),
    matchActions: [
      { action: isSilent ? 'NoPost' : 'Post' },
      ...(signal === 0 ? [] : [{ action: 'Signal', argSig: signal }]),
    ],
  };
}

function documentOf(policy: Policy) {
  return {
    apiVersion: 'cilium.io/v1alpha1',
    kind: 'TracingPolicy',
    metadata: { name: policy.name },
    spec: {
      options: [{ name: 'policy-mode', value: policy.mode }],
      kprobes: policy.hooks.map((hook) => ({
        call: `sys_${hook.event}`,
        syscall: true,
        ...(hook.message !== null && { message: hook.message }),
        tags: hook.tags,
        args: hook.args.map(({ index, kind, label }) => ({
          index,
          type: TYPES[kind],
          ...(label !== null && { label }),
        })),
        selectors: hook.selectors.map((selector) => selectorOf(selector, hook)),
      })),
    },
  };
}

const forms = fc.constantFrom(
  (value: object) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }),
  (value: object) => JSON.stringify(value),
  (value: object) => JSON.stringify(value, null, 1),
);

/** Every mapping of a document, however deep. */
function mappingsOf(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(mappingsOf);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(mappingsOf)];
}

describe('tracing policies', () => {
  it('are always read as they were written', () => {
    fc.assert(
      fc.property(anyPolicy, forms, (policy, write) => {
        expect(parsePolicy(write(documentOf(policy)))).toEqual({ ok: true, policy });
      }),
    );
  });

  it('are never taken with a field that nobody knows, wherever it stands', () => {
    fc.assert(
      fc.property(anyPolicy, forms, fc.nat(), (policy, write, which) => {
        const document = structuredClone(documentOf(policy));
        const places = mappingsOf(document);
        const place = places[which % places.length];
        if (place !== undefined) place['surprise'] = true;
        const result = parsePolicy(write(document));
        expect(result.ok ? [] : result.refusals).toEqual([
          expect.objectContaining({
            path: expect.stringMatching(/surprise$/),
            reason: 'there is no such field',
          }),
        ]);
      }),
    );
  });

  it('never make the reader throw, and every refusal has a place in the text', () => {
    fc.assert(
      fc.property(
        anyPolicy.map((policy) => stringify(documentOf(policy))),
        fc.nat(),
        fc.string({ maxLength: 12, unit: anyCharacter }),
        (text, at, put) => {
          const place = at % text.length;
          const hostile = `${text.slice(0, place)}${put}${text.slice(place + put.length)}`;
          const result = parsePolicy(hostile);
          const lines = hostile.split('\n').length;
          for (const { line, column, reason } of result.ok ? [] : result.refusals) {
            expect(line).toBeGreaterThan(0);
            expect(line).toBeLessThanOrEqual(lines + 1);
            expect(column).toBeGreaterThan(0);
            expect(reason).not.toBe('');
          }
          expect(result.ok || result.refusals.length > 0).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });
});
