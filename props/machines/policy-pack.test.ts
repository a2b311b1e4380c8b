// Packs: the same facts give the same bytes in every order, another fact gives others; what is not signed is refused; a
// node never goes back unless the newest version it applied says so. decision: D80
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Canonical, canonicalText } from '../../machines/policy/canonical.rules.ts';
import {
  type HighestApplied,
  manifestBytes,
  manifestMessage,
  manifestOf,
  mistakesOfManifest,
  type PackManifest,
  whyNotSigned,
  whyNotVersion,
} from '../../machines/policy/manifest.rules.ts';
import { fileNameOf, type PolicyPlace, placeOfFile } from '../../machines/policy/names.rules.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import { PackHead } from '../../machines/wire/policy.ts';

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((all) => all.join(''));
const anyId = hex(32).map((one) =>
  [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, one),
);
const anyName = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,62}$/);
const anyMode = fc.constantFrom('enforce' as const, 'monitor' as const);
const anyScope = fc.option(
  fc.uniqueArray(fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/), {
    minLength: 1,
    maxLength: 4,
  }),
);
const anyManifest: fc.Arbitrary<PackManifest> = fc
  .record({
    pack_id: anyId,
    version: fc.integer({ min: 1, max: 1_000_000 }),
    name: fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((text) => text.trim() !== ''),
    flavor: fc.constantFrom('standard' as const, 'telecom' as const),
    mode: anyMode,
    namespace_scope: anyScope,
    policies: fc.uniqueArray(fc.record({ name: anyName, sha256: hex(64) }), {
      selector: ({ name }) => name,
      minLength: 1,
      maxLength: 4,
    }),
    back: fc.uniqueArray(fc.nat(), { maxLength: 3 }),
  })
  .map(({ back, ...rest }) => ({
    ...rest,
    modes_allowed: [rest.mode],
    rollback_to: [...new Set(back.map((one) => (one % rest.version) + 1))].filter(
      (one) => one < rest.version,
    ),
  }));
const asText = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

describe('canonical text', () => {
  const anyValue = fc.letrec<{ value: Canonical }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: 'grapheme' }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 6 }), tie('value'), { maxKeys: 4 }),
    ),
  })).value;

  it('always is what RFC 8785 says', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(canonicalText(value)).toBe(canonicalize(value));
      }),
    );
  });

  it('never is there for what has no such form', () => {
    for (const value of [1.5, Number.NaN, 2 ** 60, '\ud800', ['\udc00'], { '\ud800': 1 }]) {
      expect(canonicalText(value)).toBeNull();
    }
    expect(canonicalText({ a: undefined, b: -0 })).toBe('{"b":0}');
  });
});

describe('the manifest of a pack', () => {
  it('always gives the same bytes, in whatever order its fields came and whatever else is with it', () => {
    fc.assert(
      fc.property(anyManifest, (manifest) => {
        const turned = Object.fromEntries(Object.entries(manifest).reverse());
        const other = { ...(turned as PackManifest), surprise: 1 };
        expect(asText(manifestMessage(other))).toBe(asText(manifestMessage(manifest)));
        expect(asText(manifestMessage(manifest))).toBe(
          `service-pack-v1:${asText(manifestBytes(manifest))}`,
        );
        expect(mistakesOfManifest(manifest)).toEqual([]);
        const { policies: _policies, ...head } = manifest;
        expect(parserOfValue(PackHead)(head).ok).toBe(true);
      }),
    );
  });

  it('always gives other bytes for another pack', () => {
    fc.assert(
      fc.property(anyManifest, anyManifest, (one, other) => {
        fc.pre(canonicalize(one) !== canonicalize(other));
        expect(asText(manifestBytes(one))).not.toBe(asText(manifestBytes(other)));
      }),
    );
  });

  it('always names each policy with the digest at its place', () => {
    fc.assert(
      fc.property(anyManifest, (manifest) => {
        const pack = {
          ...manifest,
          policies: manifest.policies.map(({ name }) => ({ name, yaml: 'a: 1', signature: '' })),
        };
        const digests = manifest.policies.map(({ sha256 }) => sha256);
        expect(manifestOf(pack, digests)).toEqual(manifest);
      }),
    );
  });

  it('never contradicts itself', () => {
    const [manifest] = fc.sample(anyManifest, 1);
    if (manifest === undefined) throw new Error('no sample');
    const [policy] = manifest.policies;
    if (policy === undefined) throw new Error('no policy');
    const { version, mode } = manifest;
    const wrong: readonly (readonly [Partial<PackManifest>, string])[] = [
      [{ rollback_to: [version] }, '/rollback_to'],
      [{ rollback_to: [version + 1] }, '/rollback_to'],
      [{ modes_allowed: mode === 'enforce' ? ['monitor'] : ['enforce'] }, '/mode'],
      [{ modes_allowed: [mode, mode] }, '/modes_allowed'],
      [{ policies: [policy, policy] }, '/policies'],
      [{ namespace_scope: ['a', 'a'] }, '/namespace_scope'],
      [{ name: ' ' }, '/name'],
    ];
    for (const [change, pointer] of wrong) {
      expect(mistakesOfManifest({ ...manifest, ...change }).map((one) => one.pointer)).toContain(
        pointer,
      );
    }
  });
});

describe('an assignment', () => {
  it('never chooses a mode or a namespace that is not signed', () => {
    fc.assert(
      fc.property(anyManifest, anyMode, anyScope, (manifest, mode, namespace_scope) => {
        const why = whyNotSigned(manifest, { mode, namespace_scope });
        const widest = manifest.namespace_scope;
        const isWithin =
          widest === null || (namespace_scope?.every((one) => widest.includes(one)) ?? false);
        expect(why === null).toBe(manifest.modes_allowed.includes(mode) && isWithin);
        if (why === 'scope_not_signed') expect(isWithin).toBe(false);
      }),
    );
  });
});

describe('the versions on a node', () => {
  it('never fall below the highest unless it says so, and never change under their number', () => {
    const anyVersion = fc.record({
      version: fc.integer({ min: 1, max: 6 }),
      manifest_sha256: fc.constantFrom('a', 'b'),
      rollback_to: fc.uniqueArray(fc.integer({ min: 1, max: 5 })),
    });
    fc.assert(
      fc.property(fc.array(anyVersion, { maxLength: 20 }), (offers) => {
        let highest: HighestApplied | null = null;
        for (const offer of offers) {
          const why = whyNotVersion(offer, highest);
          if (highest !== null && offer.version < highest.version) {
            expect(why === null).toBe(highest.rollback_to.includes(offer.version));
          } else if (offer.version === highest?.version) {
            expect(why === null).toBe(offer.manifest_sha256 === highest.manifest_sha256);
          } else {
            expect(why).toBeNull();
            highest = offer;
          }
        }
      }),
    );
  });
});

describe('the names of policies on a node', () => {
  const anyPlace: fc.Arbitrary<PolicyPlace> = fc.oneof(
    fc.record({ kind: fc.constant('pack' as const), packId: anyId, name: anyName }),
    fc.record({ kind: fc.constant('custom' as const), name: anyName }),
    fc.record({ kind: fc.constant('own' as const), name: anyName }),
  );

  it('always tell whose a file is, and never two things by one name', () => {
    fc.assert(
      fc.property(anyPlace, (place) => {
        const file = fileNameOf(place);
        const read = placeOfFile(file);
        if (place.kind !== 'own' || read?.kind === 'own') expect(read).toEqual(place);
        expect(file).not.toContain('/');
      }),
    );
  });

  it.each(['', '../x', 'a/b', 'a\0', 'a\nb', 'A', 'x'.repeat(64), 'custom--', 'custom--../x'])(
    'never are %j',
    (base) => {
      expect(placeOfFile(base)).toBeNull();
    },
  );
});
