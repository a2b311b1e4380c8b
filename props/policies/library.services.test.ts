// The starter library in the kernel: all of it at once, each policy triggered, each telling, and the calls beside them not.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../actors/runtime/parse-policy.ts';
import { readLibrary } from '../../gateway/policy-library/read-library.ts';
import {
  type Running,
  skipReason,
  startEngine,
  stopEngine,
} from '../../sensor/engine/native/engine-rig.ts';
import { compileFile, compilePolicy } from '../../sensor/engine/policy/compile-policy.ts';
import { TRIGGERS } from './triggers.ts';

const TIMEOUT_MS = 300_000;
const CALLER = fileURLToPath(new URL('../../sensor/engine/native/caller.pl', import.meta.url));
const wordOf = (one: number | string) =>
  typeof one === 'string' ? `x${Buffer.from(one).toString('hex')}` : String(one);
const refused = skipReason('the starter library');
const library = await readLibrary();

describe.skipIf(refused !== undefined)('the starter library in the kernel', () => {
  let directory = '';
  let engine: Running;
  let told: readonly string[] = [];
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'library-'));
    const compiled = library.map(({ yaml }) => {
      const result = parsePolicy(yaml);
      if (!result.ok) throw new Error(JSON.stringify(result.refusals));
      return compilePolicy(result.policy, createHash('sha256').update(yaml).digest('hex'));
    });
    const file = join(directory, 'policies');
    writeFileSync(file, compileFile(1, compiled), { mode: 0o600 });
    engine = await startEngine(directory, '--policy-file', file);
    for (const { name } of library) {
      const lines = (TRIGGERS[name] ?? []).map((call) => `${call.map(wordOf).join(' ')}\n`);
      spawnSync('perl', [CALLER, `trigger-${name}`], { input: lines.join('') });
    }
    await stopEngine(engine);
    told = readFileSync(engine.file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"policy_name"'));
  }, TIMEOUT_MS);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** Why a policy is not in force here; '' when it is. */
  const whyNot = (name: string) =>
    String(engine.words.find((word) => word['policy'] === name)?.['reason'] ?? 'never told of');

  it('should be in force, but for calls that this kernel was built without', () => {
    const missing = library.map(({ name }) => whyNot(name)).filter((why) => why !== '');
    for (const why of missing) expect(why).toMatch(/^the kernel has no tracepoint /);
    process.stdout.write(
      `the library here: ${library.length - missing.length} of ${library.length} in force\n`,
    );
    expect(library.length - missing.length).toBeGreaterThanOrEqual(20);
  });

  it.each(library)(
    'should tell of $name when it is triggered, by each of its hooks',
    ({ name, technique }) => {
      if (whyNot(name) !== '') return;
      const own = told.filter((line) => line.includes(`"policy_name":"${name}"`));
      const triggered = own.filter((line) => line.includes(`trigger-${name}`));
      expect(triggered).toHaveLength(TRIGGERS[name]?.length ?? 0);
      for (const line of triggered) expect(line).toContain(technique);
    },
  );

  it('should not tell of what another policy looks for', () => {
    for (const { name } of library) {
      const others = told.filter(
        (line) => line.includes(`trigger-${name}"`) && !line.includes(`"policy_name":"${name}"`),
      );
      expect(others.map((line) => /"policy_name":"([^"]*)"/.exec(line)?.[1])).toEqual([]);
    }
  });
});
