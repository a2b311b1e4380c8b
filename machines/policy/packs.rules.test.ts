// What is signed of policies and keys, by example: names, manifests, versions, statements and differences. decision: D80, D81
import { describe, expect, it } from 'vitest';
import { type Canonical, canonicalBytes, canonicalText } from './canonical.rules.ts';
import { diffLines, diffPolicies } from './diff.rules.ts';
import { enginesFor, isForOthers } from './engines.rules.ts';
import {
  headOf,
  manifestBytes,
  manifestMessage,
  manifestOf,
  mistakesOfManifest,
  type PackManifest,
  whyNotSigned,
  whyNotVersion,
} from './manifest.rules.ts';
import { fileNameOf, placeOfFile } from './names.rules.ts';
import {
  keyBlocksOf,
  keysDigestText,
  rotationMessage,
  type TrustedKeys,
  takeRotation,
} from './signing-keys.rules.ts';

const ID = '01234567-89ab-cdef-0123-456789abcdef';
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('canonical text', () => {
  it('should be sorted by the units of names, without spaces and without what is undefined', () => {
    const value: Canonical = { é: 1, b: [true, null, 'x"'], a: undefined, B: { d: 2, c: -0 } };
    expect(canonicalText(value)).toBe('{"B":{"c":0,"d":2},"b":[true,null,"x\\""],"é":1}');
    expect(textOf(canonicalBytes('p:', []))).toBe('p:[]');
  });

  it('should be none as soon as a part of it is none', () => {
    for (const value of [0.5, '\ud800', [1, 0.5], { a: [{ b: 0.5 }] }, { '\ud800': 1 }]) {
      expect(canonicalText(value)).toBeNull();
      expect(() => canonicalBytes('', value)).toThrow();
    }
  });
});

describe('a difference', () => {
  const told = (before: string, after: string) =>
    diffLines(before, after).map(({ sign, text }) => `${sign}${text}`);

  it('should keep as many lines as it can, and tell what goes before what comes', () => {
    expect(told('a\nb\nc', 'a\nc')).toEqual([' a', '-b', ' c']);
    expect(told('a\nc', 'a\nb\nc')).toEqual([' a', '+b', ' c']);
    expect(told('a', 'b')).toEqual(['-a', '+b']);
    expect(told('x\na\nb\nc', 'a\nb\nc\nx')).toEqual(['-x', ' a', ' b', ' c', '+x']);
    expect(told('a\nb\nc\nx', 'x\na\nb\nc')).toEqual(['+x', ' a', ' b', ' c', '-x']);
    expect(told('a\nb\na', 'b\na\nb\na')).toEqual([...['+b', ' a', ' b', ' a']]);
    expect(told('', 'a')).toEqual(['-', '+a']);
  });

  it('should tell what was added, removed and changed, in the order of names', () => {
    const one = (name: string, yaml: string) => ({ name, yaml });
    const before = [one('same', 's'), one('old', 'o'), one('both', 'x')];
    const after = [one('new', 'n'), one('both', 'y'), one('same', 's')];
    expect(diffPolicies(before, after)).toEqual([
      { name: 'both', what: 'changed', lines: diffLines('x', 'y') },
      { name: 'new', what: 'added', lines: diffLines('', 'n') },
      { name: 'old', what: 'removed', lines: diffLines('o', '') },
    ]);
  });
});

describe('the name of a policy’s file', () => {
  it('should say whose the policy is', () => {
    for (const [place, file] of [
      [{ kind: 'pack', packId: ID, name: 'a' }, `${ID}--a`],
      [{ kind: 'custom', name: 'a' }, 'custom--a'],
      [{ kind: 'own', name: 'a' }, 'a'],
    ] as const) {
      expect(fileNameOf(place)).toBe(file);
      expect(placeOfFile(file)).toEqual(place);
    }
    for (const own of [`0${ID}--a`, `x-${ID}`, ID, `${ID}-a`]) {
      expect(placeOfFile(own)).toEqual({ kind: 'own', name: own });
    }
    expect(placeOfFile(`${ID}--`)).toBeNull();
    expect(placeOfFile(`${ID.toUpperCase()}--a`)).toBeNull();
  });
});

describe('the engines of a policy', () => {
  it('should be Tetragon’s too only under the name of a Kubernetes object', () => {
    const taken = { ok: true, policy: { name: '', mode: 'monitor', hooks: [] } } as const;
    const engines = (name: string) => enginesFor(name, taken);
    for (const name of ['a', '9', 'a.b-c', 'a'.repeat(120)]) {
      expect(engines(name)).toEqual(['ebpf', 'tetragon']);
    }
    for (const name of ['-a', 'a-', '.a', 'a.', 'A', 'a_b', 'a'.repeat(121)]) {
      expect(engines(name)).toEqual(['ebpf']);
    }
  });

  it('should be none for a name that is Tetragon’s of no policy', () => {
    const refusal = { path: '', line: 1, column: 1, reason: '', code: 'engine_cannot' } as const;
    const refused = (count: number) =>
      ({ ok: false, refusals: Array(count).fill(refusal) }) as const;
    expect(enginesFor('a', refused(19))).toEqual(['tetragon']);
    expect(enginesFor('a', refused(20))).toEqual([]);
    expect(enginesFor('a_b', refused(1))).toEqual([]);
    expect(isForOthers([refusal, { ...refusal, code: 'invalid' }])).toBe(false);
  });
});

const MANIFEST: PackManifest = {
  ...{ pack_id: ID, version: 3, name: 'one', flavor: 'standard', mode: 'monitor' },
  ...{ modes_allowed: ['monitor', 'enforce'], namespace_scope: ['a', 'b'], rollback_to: [1, 2] },
  policies: [
    { name: 'x', sha256: '11' },
    { name: 'y', sha256: '22' },
  ],
};

describe('a manifest', () => {
  it('should be signed as one text of its own facts alone', () => {
    const bytes =
      '{"flavor":"standard","mode":"monitor","modes_allowed":["monitor","enforce"],"name":"one",' +
      `"namespace_scope":["a","b"],"pack_id":"${ID}","policies":[{"name":"x","sha256":"11"},` +
      '{"name":"y","sha256":"22"}],"rollback_to":[1,2],"version":3}';
    const more = { ...MANIFEST, policies: MANIFEST.policies.map((one) => ({ ...one, more: 1 })) };
    expect(textOf(manifestBytes(more))).toBe(bytes);
    expect(textOf(manifestMessage(more))).toBe(`service-pack-v1:${bytes}`);
    const { policies, ...head } = MANIFEST;
    expect(headOf(MANIFEST)).toEqual(head);
    const pack = {
      ...head,
      policies: policies.map(({ name }) => ({ name, yaml: '', signature: '' })),
    };
    expect(manifestOf(pack, ['11', '22'])).toEqual(MANIFEST);
    expect(manifestOf(pack, ['11']).policies[1]).toEqual({ name: 'y', sha256: '' });
  });

  it.each<[Partial<PackManifest>, string]>([
    [{ name: '\ud800' }, '/name'],
    [{ name: ' \t' }, '/name'],
    [{ modes_allowed: ['enforce'] }, '/mode'],
    [{ modes_allowed: ['monitor', 'monitor'] }, '/modes_allowed'],
    [{ namespace_scope: ['a', 'b', 'a'] }, '/namespace_scope'],
    [{ rollback_to: [1, 1] }, '/rollback_to'],
    [{ rollback_to: [1, 3] }, '/rollback_to'],
    [{ policies: MANIFEST.policies.map((one) => ({ ...one, name: 'x' })) }, '/policies'],
  ])('should contradict itself in one place with %j', (change, pointer) => {
    expect(mistakesOfManifest({ ...MANIFEST, ...change })).toEqual([
      { pointer, detail: expect.stringMatching(/./) },
    ]);
    expect(mistakesOfManifest({ ...MANIFEST, namespace_scope: null })).toEqual([]);
  });

  it('should allow the modes and the namespaces that it names', () => {
    const why = (mode: 'monitor' | 'enforce', namespace_scope: readonly string[] | null) =>
      whyNotSigned(
        { modes_allowed: ['monitor'], namespace_scope: ['a', 'b'] },
        { mode, namespace_scope },
      );
    expect(why('monitor', ['b'])).toBeNull();
    expect(why('monitor', ['b', 'c'])).toBe('scope_not_signed');
    expect(why('monitor', null)).toBe('scope_not_signed');
    expect(why('enforce', ['b'])).toBe('mode_not_signed');
    const wide = { modes_allowed: MANIFEST.modes_allowed, namespace_scope: null };
    expect(whyNotSigned(wide, { mode: 'enforce', namespace_scope: ['z'] })).toBeNull();
    expect(whyNotSigned(wide, { mode: 'enforce', namespace_scope: null })).toBeNull();
  });

  it('should say of a version why a node does not take it', () => {
    const highest = { version: 3, manifest_sha256: 'c', rollback_to: [1] };
    const why = (version: number, manifest_sha256 = 'c') =>
      whyNotVersion({ version, manifest_sha256 }, highest);
    expect([why(4, 'd'), why(3), why(1, 'a')]).toEqual([null, null, null]);
    expect(why(3, 'd')).toBe('version_changed');
    expect(why(2)).toBe('rollback_refused');
    expect(whyNotVersion({ version: 1, manifest_sha256: 'a' }, null)).toBeNull();
  });
});

describe('a statement about keys', () => {
  const key = (id: string) => ({ id, pem: `pem of ${id}` });
  const trusted: TrustedKeys = { sequence: 4, keys: [key('a'), key('b')], retired: ['z'] };
  const statement = {
    ...{ sequence: 5, new_key_pem: 'pem of c', retired_key_ids: ['b'], by_key_id: 'a' },
    signature: 's',
  };
  const checked = { newKeyId: 'c', isGenuine: true };

  it('should add one key, retire others for good, and count on', () => {
    expect(takeRotation(trusted, statement, checked)).toEqual({
      ok: true,
      keys: { sequence: 5, keys: [key('a'), key('c')], retired: ['z', 'b'] },
    });
    const again = { ...statement, new_key_pem: 'pem of a', retired_key_ids: ['z'] };
    expect(takeRotation(trusted, again, { ...checked, newKeyId: 'a' })).toEqual({
      ok: true,
      keys: { sequence: 5, keys: [key('b'), key('a')], retired: ['z'] },
    });
  });

  it('should be refused by its first fault', () => {
    const why = (change: Partial<typeof statement>, facts: Partial<typeof checked> = {}) => {
      const result = takeRotation(trusted, { ...statement, ...change }, { ...checked, ...facts });
      return result.ok ? null : result.code;
    };
    expect(why({ sequence: 4, by_key_id: 'x' })).toBe('rotation_out_of_order');
    expect(why({ by_key_id: 'x' }, { isGenuine: false })).toBe('rotation_key_unknown');
    expect(why({}, { isGenuine: false })).toBe('rotation_signature_invalid');
    expect(why({}, { newKeyId: 'z' })).toBe('rotation_key_retired');
    expect(why({}, { newKeyId: 'b' })).toBe('rotation_key_retired');
    const full = { ...trusted, keys: [...'abcdefgh'].map(key) };
    const one = { ...statement, retired_key_ids: [] };
    expect(takeRotation(full, one, { ...checked, newKeyId: 'i' })).toEqual({
      ...{ ok: false, code: 'rotation_too_many_keys' },
    });
    expect(takeRotation(full, one, { ...checked, newKeyId: 'h' }).ok).toBe(true);
  });

  it('should be signed as one text of its facts', () => {
    expect(textOf(rotationMessage(statement))).toBe(
      'service-policy-key-v1:{"by_key_id":"a","new_key_pem":"pem of c","retired_key_ids":["b"],"sequence":5}',
    );
  });

  it('should find the keys among whatever else a file holds, and digest them in any order', () => {
    const block = (body: string) => `-----BEGIN PUBLIC KEY-----${body}-----END PUBLIC KEY-----`;
    const [one, two] = [block('\nAb+/9=\n'), block('\r\nxy\r\n')];
    expect(keyBlocksOf(`# note\n${one}\n\n${two} tail`)).toEqual([`${one}\n`, `${two}\n`]);
    expect(keyBlocksOf(block(''))).toEqual([]);
    expect(keyBlocksOf(block('\nA-B\n'))).toEqual([]);
    expect(keyBlocksOf(block('A'.repeat(1_024)))).toHaveLength(1);
    expect(keyBlocksOf(block('A'.repeat(1_025)))).toEqual([]);
    expect(keysDigestText(['b', 'a', 'b'])).toBe('a\nb');
  });
});
