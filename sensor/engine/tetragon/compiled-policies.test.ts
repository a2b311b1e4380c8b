import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPolicySource } from './compiled-policies.ts';

let stateDir = '';
let told: string[] = [];
beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'policies-'));
  mkdirSync(path.join(stateDir, 'compiled-policies'));
  told = [];
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const YAML = 'kind: TracingPolicy\nmetadata:\n  name: one\n';
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const put = (name: string, text: string) =>
  writeFileSync(path.join(stateDir, 'compiled-policies', name), text);
const putKey = (key: KeyObject) =>
  writeFileSync(
    path.join(stateDir, 'policy-signing.pub'),
    key.export({ type: 'spki', format: 'pem' }),
  );
const signature = (name: string, yaml: string) =>
  sign(null, Buffer.from(`service-policy-v1:${name}\n${yaml}`), privateKey).toString('base64');
const read = () => createPolicySource(stateDir, (problem) => told.push(problem))();

describe('compiled policies', () => {
  it('should be none when there is no folder, and only policies when there are other files', async () => {
    put('README.md', 'no policy');
    expect(await read()).toEqual([]);
    rmSync(path.join(stateDir, 'compiled-policies'), { recursive: true });
    expect(await read()).toEqual([]);
    expect(told).toEqual([]);
  });

  it('should be taken unsigned where there is no key, and told once where there is one', async () => {
    put('one.yaml', YAML);
    expect(await read()).toEqual([{ file: 'one.yaml', yaml: YAML }]);
    expect(told).toEqual([]);
    putKey(publicKey);
    const source = createPolicySource(stateDir, (problem) => told.push(problem));
    expect(await source()).toHaveLength(1);
    expect(await source()).toHaveLength(1);
    expect(told).toEqual(['one.yaml: it has no signature, though there is a signing key']);
  });

  it('should be taken when the signature is over exactly this name and text', async () => {
    putKey(publicKey);
    put('one.yaml', YAML);
    put('one.yaml.sig', `${signature('one', YAML)}\n`);
    expect(await read()).toHaveLength(1);
    expect(told).toEqual([]);
  });

  it.each([
    ['of another name', signature('two', YAML)],
    ['of another text', signature('one', `${YAML}#`)],
    ['that is none', 'not base64 at all'],
    ['that is empty', ''],
  ])('should be rejected with a signature %s', async (_, sidecar) => {
    putKey(publicKey);
    put('one.yaml', YAML);
    put('one.yaml.sig', sidecar);
    expect(await read()).toEqual([]);
    expect(told).toEqual(['one.yaml: rejected: its signature does not verify']);
  });

  it('should be rejected with a signature that no key can check', async () => {
    put('one.yaml', YAML);
    put('one.yaml.sig', signature('one', YAML));
    expect(await read()).toEqual([]);
    putKey(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey);
    expect(await read()).toEqual([]);
    expect(told[0]).toMatch(/cannot be checked/);
  });
});
