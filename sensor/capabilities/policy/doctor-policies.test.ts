import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkPolicies } from './doctor-policies.ts';

let stateDir = '';
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'doctor-'));
  mkdirSync(join(stateDir, 'compiled-policies'), { mode: 0o700 });
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

function put(name: string, hook: string): void {
  const yaml = `apiVersion: cilium.io/v1alpha1\nkind: TracingPolicy\nmetadata: {name: ${name}}\nspec:\n  ${hook}\n`;
  writeFileSync(join(stateDir, 'compiled-policies', `${name}.yaml`), yaml, { mode: 0o600 });
}
const UPROBE = 'uprobes: [{path: /bin/sh, symbols: [main]}]';
const CALL = 'kprobes: [{call: sys_write, args: [{index: 0, type: fd}]}]';

describe('policies, as the doctor sees them', () => {
  it('should be judged by the language of the engine that is chosen', async () => {
    put('call', CALL);
    put('uprobe', UPROBE);
    expect(await checkPolicies({ stateDir, strictPolicies: false }, 'ebpf')).toEqual([
      { isGood: true, text: 'call is taken' },
      { isGood: false, text: expect.stringMatching(/^uprobe: spec\.uprobes/) },
    ]);
    expect(await checkPolicies({ stateDir, strictPolicies: false }, 'tetragon')).toEqual([
      { isGood: true, text: 'call is taken, what it says is for Tetragon to judge' },
      { isGood: true, text: 'uprobe is taken, what it says is for Tetragon to judge' },
    ]);
    expect(await checkPolicies({ stateDir, strictPolicies: false }, 'procfs')).toEqual([
      { isGood: false, text: 'call: the engine procfs carries out no policies' },
      { isGood: false, text: 'uprobe: the engine procfs carries out no policies' },
    ]);
  });

  it.each(['ebpf', 'tetragon'] as const)(
    'should say for %s that one is unsigned beside a key, and refuse a bad sidecar',
    async (engine) => {
      const pem = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
      writeFileSync(join(stateDir, 'policy-signing.pub'), pem, { mode: 0o600 });
      put('bad', CALL);
      put('plain', CALL);
      const sidecar = join(stateDir, 'compiled-policies', 'bad.yaml.sig');
      writeFileSync(sidecar, Buffer.alloc(64).toString('base64'), { mode: 0o600 });
      const [bad, plain] = await checkPolicies({ stateDir, strictPolicies: false }, engine);
      expect(bad?.isGood).toBe(false);
      expect(plain?.text).toContain('plain is taken, not signed although this node has a key');
    },
  );

  it('should have nothing to say of an empty folder', async () => {
    expect(await checkPolicies({ stateDir, strictPolicies: false }, 'tetragon')).toEqual([]);
  });
});
