import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, filesLike, ROOT, textOf } from './files.ts';

// Clock, chance, input and output, environment: none of it belongs to a statechart. invariant: I8
const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\b/,
  /\bMath\.random\b/,
  /\brandomUUID\b/,
  /\bcrypto\b/,
  /\bprocess\b(?!\s*[:?])\.(env|hrtime|cwd|argv|exit)/,
  /\bsetTimeout\(/,
  /\bsetInterval\(/,
  /\bfetch\(/,
  /\bconsole\./,
  /from 'node:/,
  /\bawait import\(/,
  /\basync function\b/,
];

// The longest call of createActor that is looked through for its clock.
const CALL_MAX_CHARS = 2_500;

describe('machines', () => {
  it('should be pure: no clock, chance, input, output or environment', () => {
    const found = filesLike(/^machines\/.*\.ts$/).flatMap((path) =>
      IMPURE.filter((pattern) => pattern.test(codeOf(path))).map(
        (pattern) => `${path}: ${pattern}`,
      ),
    );
    expect(found).toEqual([]);
  });

  it('should each have a property file that runs the shared laws', () => {
    const properties = filesLike(/^props\/machines\/.*\.test\.ts$/);
    const missing = filesLike(/^machines\/.*\.machine\.ts$/).filter((path) => {
      const name = path.split('/').at(-1)?.replace('.machine.ts', '') ?? '';
      const file = properties.find((one) => one.endsWith(`/${name}.test.ts`));
      return file === undefined || !codeOf(file).includes('describeMachineLaws(');
    });
    expect(missing).toEqual([]);
  });

  it('should be created with a clock everywhere', () => {
    const found = filesLike(/^(actors|gateway|storage|sensor)\/.*\.ts$/)
      .filter((path) => !path.endsWith('.test.ts'))
      .flatMap((path) =>
        codeOf(path)
          .split('createActor(')
          .slice(1)
          .filter((rest) => !/\bclock\b/.test(rest.slice(0, CALL_MAX_CHARS)))
          .map((rest) => `${path}: createActor(${rest.slice(0, 60)}`),
      );
    expect(found).toEqual([]);
  });

  it('should be read through what XState promises, not through its private members', () => {
    const names = privateNames();
    // Names that were looked for in the wrong place would find nothing either.
    expect(names).toContain('_nodes');
    expect(names).toContain('_scheduledEvents');
    const found = filesLike(/^(machines|actors|gateway|storage|sensor|props)\/.*\.tsx?$/)
      .filter((path) => path !== 'props/tidy/purity.test.ts')
      .flatMap((path) =>
        [...textOf(path).matchAll(/(?<![:+\w])(?<!: )_[a-z]\w*/g)]
          .map(([name]) => name)
          .filter((name) => names.includes(name))
          .map((name) => `${path}: ${name}`),
      );
    expect(found).toEqual([]);
  });
});

/** What XState's own types name with an underscore and do not call a parameter of a type. */
function privateNames(): readonly string[] {
  const folder = join(ROOT, 'node_modules/xstate/dist/declarations/src');
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const names = texts.flatMap((text) => text.match(/\b_[a-z]\w*/g) ?? []);
  return [...new Set(names)].filter((name) => !name.startsWith('_out_'));
}
