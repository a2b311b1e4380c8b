import { describe, expect, it } from 'vitest';
import { thirdPartyPackages } from '../../actors/runtime/third-party.ts';
import { type ProgramName, sbomOf } from './sbom.ts';

type Bom = {
  readonly specVersion: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly name: string;
    readonly purl: string;
    readonly version: string;
    readonly hashes?: unknown;
    readonly licenses?: unknown;
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: string[] }[];
};
const bomOf = (program: ProgramName): Bom => JSON.parse(sbomOf(program));
const namesOf = ({ components }: Bom) => new Set(components.map(({ name }) => name));

describe('the bill of materials', () => {
  it('should hold what each program runs, and nothing that only the other one or a test does', () => {
    const [console, sensor] = [bomOf('service-console'), bomOf('service-sensor')];
    expect(console.metadata.component.name).toBe('service-console');
    for (const name of ['fastify', 'uWebSockets.js', 'pg', 'xstate', 'node', 'pg-protocol']) {
      expect(namesOf(console)).toContain(name);
    }
    for (const name of ['xstate', 'typebox', 'yaml', 'ws', 'node', 'glibc', 'libelf', 'libbpf']) {
      expect(namesOf(sensor)).toContain(name);
    }
    expect(namesOf(sensor)).not.toContain('fastify');
    expect(namesOf(console)).not.toContain('vitest');
    expect(namesOf(console)).not.toContain('libelf');
  });

  it.each(['service-console', 'service-sensor'] as const)(
    'should name version, address and licence of each part of %s, and what it needs by a part',
    (program) => {
      const { components, dependencies, specVersion } = bomOf(program);
      expect(specVersion).toBe('1.6');
      expect(components.length).toBeGreaterThan(20);
      const unsound = components.filter(
        ({ purl, version, licenses }) =>
          !/^pkg:(npm|deb)\//.test(purl) || version === '' || licenses === undefined,
      );
      expect(unsound).toEqual([]);
      const refs = new Set(dependencies.map(({ ref }) => ref));
      const dangling = dependencies.flatMap(({ dependsOn = [] }) =>
        dependsOn.filter((ref) => !refs.has(ref)),
      );
      expect(dangling).toEqual([]);
    },
  );
});

describe('what `version --licenses` lists', () => {
  it('should be every installed package that is not for development, with its licence', () => {
    const packages = thirdPartyPackages();
    expect(packages.map(({ name }) => name)).toContain('fastify');
    expect(packages.map(({ name }) => name)).not.toContain('vitest');
    expect(packages.filter(({ license }) => license === 'unknown')).toEqual([]);
  });
});
