// The joined schema library judges as its modules do, and is loaded instead of them. decision: D1
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isJoiningDue, joinModules, tryToJoin } from './joined-modules.ts';

const SELF = join(import.meta.dirname, 'joined-modules.ts');
const WIRE = join(import.meta.dirname, '..', '..', 'machines', 'wire');
const SCRIPT = `
import { registerHooks } from 'node:module';
import { useJoinedModules } from ${JSON.stringify(SELF)};
useJoinedModules(${JSON.stringify('FOLDER')});
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
const { EventsRequest } = await import(${JSON.stringify(join(WIRE, 'heartbeat.ts'))});
const { parserOf } = await import(${JSON.stringify(join(WIRE, 'parse.ts'))});
const judge = parserOf(EventsRequest);
const answers = ['{}', '{"events":[1],"sequence":-1}', '[', '{"sequence":1,"events":[]}'].map(judge);
const modules = loaded.filter((url) => url.includes('typebox')).length;
console.log(JSON.stringify({ modules, answers }));
`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'joined-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a process answers that looks for joined modules in the folder. */
function answersWith(joined: string): { modules: number; answers: readonly unknown[] } {
  const script = SCRIPT.replace('FOLDER', joined);
  const words = ['--input-type=module', '--eval', script];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
}

describe('joined modules', () => {
  it('should judge as the modules do, from a handful of files', async () => {
    const joined = join(folder, 'cache', 'joined');
    const before = answersWith(joined);
    await joinModules(joined);
    const after = answersWith(joined);
    expect(before.modules).toBeGreaterThan(100);
    expect(after.modules).toBeLessThan(10);
    expect(after.answers).toEqual(before.answers);
    expect(JSON.stringify(after.answers)).toContain('schema_violation');
  });

  it('should leave what is there, and nothing half made, when the folder is taken', async () => {
    const joined = join(folder, 'joined');
    mkdirSync(joined);
    writeFileSync(join(joined, 'other'), '');
    await expect(joinModules(joined)).rejects.toThrow('ENOTEMPTY');
    expect(readdirSync(folder)).toEqual(['joined']);
    expect(existsSync(join(joined, 'other'))).toBe(true);
  });

  it('should be joined from whatever directory the Sensor is started in', () => {
    const joined = join(folder, 'joined');
    const script = `await (await import(${JSON.stringify(SELF)})).joinModules(${JSON.stringify(joined)})`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: '/' });
    expect(readdirSync(joined)).toContain('typebox.mjs');
  });

  it('should be tried and told once when they cannot be made', async () => {
    const joined = join(folder, 'joined');
    expect(isJoiningDue(joined)).toBe(true);
    mkdirSync(joined);
    writeFileSync(join(joined, 'other'), '');
    const told: string[] = [];
    await tryToJoin(joined, (line) => told.push(line));
    expect(told).toEqual([expect.stringContaining('ENOTEMPTY')]);
    rmSync(joined, { recursive: true });
    expect(isJoiningDue(joined)).toBe(false);
  });
});
