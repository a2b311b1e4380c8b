import { generateKeyPairSync, sign } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { createPolicySource } from './compiled-policies.ts';

let stateDir = '';
let folder = '';
let told: string[] = [];
beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'policies-'));
  folder = path.join(stateDir, 'compiled-policies');
  mkdirSync(folder, { mode: 0o700 });
  told = [];
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

// More than the `ebpf` engine carries out: a kprobe of the kernel's own function, a uprobe, a return's argument.
const YAML = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata:
  name: one
spec:
  options: [{name: disable-kprobe-multi, value: "1"}, {name: policy-mode, value: monitor}]
  podSelector: {matchLabels: {app: shop}}
  kprobes:
    - call: fd_install
      syscall: false
      returnArg: {index: 0, type: int}
      selectors: [{matchActions: [{action: FollowFD, argFd: 0, argName: 1}]}]
  uprobes: [{path: /bin/bash, symbols: [readline]}]
`;
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const pemOf = (key: typeof publicKey) => key.export({ type: 'spki', format: 'pem' }).toString();
const put = (name: string, text: string, mode = 0o600) => {
  writeFileSync(path.join(folder, name), text);
  chmodSync(path.join(folder, name), mode);
};
const putKey = (pem = pemOf(publicKey)) =>
  writeFileSync(path.join(stateDir, 'policy-signing.pub'), pem, { mode: 0o600 });
const signature = (name: string, yaml: string) =>
  sign(null, Buffer.from(`service-policy-v1:${name}\n${yaml}`), privateKey).toString('base64');
const sourceOf = (files: Files = diskFiles, isPreemptRt = false) =>
  createPolicySource(stateDir, (one) => told.push(one), { files, isPreemptRt });
const read = async (files?: Files) =>
  (await sourceOf(files)()).map((one) => (one.ok ? one.policy.name : `${one.name}: ${one.reason}`));

describe('compiled policies', () => {
  it('should be none when there is no folder, and only policies when there are other files', async () => {
    put('README.md', 'no policy');
    expect(await read()).toEqual([]);
    rmSync(folder, { recursive: true });
    expect(await read()).toEqual([]);
    expect(told).toEqual([]);
  });

  it('should be taken unsigned where there is no key, and told once where there is one', async () => {
    put('one.yaml', YAML);
    expect(await sourceOf()()).toEqual([
      {
        ok: true,
        policy: expect.objectContaining({ name: 'one', yaml: YAML, mode: 'TP_MODE_MONITOR' }),
      },
    ]);
    expect(told).toEqual([]);
    putKey();
    const source = sourceOf();
    expect(await source()).toHaveLength(1);
    expect(await source()).toHaveLength(1);
    expect(told).toEqual(['policy one is not signed, although this node has a key']);
  });

  it('should be taken when the signature is over exactly this name and text, until one of them is another', async () => {
    putKey();
    put('one.yaml', YAML);
    put('one.yaml.sig', `${signature('one', YAML)}\n`);
    const source = sourceOf();
    for (let round = 0; round < 2; round += 1) expect(await source()).toMatchObject([{ ok: true }]);
    put('one.yaml', `${YAML}# changed\n`);
    expect(await source()).toMatchObject([{ ok: false, name: 'one' }]);
    put('one.yaml', YAML);
    expect(await source()).toMatchObject([{ ok: true }]);
    putKey(pemOf(generateKeyPairSync('ed25519').publicKey));
    expect(await source()).toMatchObject([{ ok: false, name: 'one' }]);
    expect(told).toEqual([]);
  });

  it.each([
    ['of another name', signature('two', YAML), /not by policy-signing\.pub/],
    ['of another text', signature('one', `${YAML}#`), /not by policy-signing\.pub/],
    ['that is none', 'not base64 at all', /no signature in base64/],
    ['with words behind it', `${signature('one', YAML)}\nmore`, /no signature in base64/],
    ['that is empty', '', /it is empty/],
  ])('should be rejected with a signature %s', async (_, sidecar, reason) => {
    putKey();
    put('one.yaml', YAML);
    put('one.yaml.sig', sidecar);
    expect(await read()).toEqual([expect.stringMatching(reason)]);
  });

  it('should be rejected with a signature that no key can check', async () => {
    put('one.yaml', YAML);
    put('one.yaml.sig', signature('one', YAML));
    expect(await read()).toEqual(['one: it has a sidecar, and there is no key to verify']);
    putKey(pemOf(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey));
    expect(await read()).toEqual(['one: policy-signing.pub holds no Ed25519 key']);
  });

  it('should be rejected under another name than their own, signed or not', async () => {
    putKey();
    put('two.yaml', YAML);
    expect(await read()).toEqual(['two: metadata.name: must be two, as its file is']);
    put('two.yaml.sig', signature('two', YAML));
    expect(await read()).toEqual(['two: metadata.name: must be two, as its file is']);
  });

  // A link's own bits are open to everyone; where they were not, the opening would follow none.
  const LINKED = expect.stringMatching(
    /^one: it (can be written by others|cannot be read: ELOOP)$/,
  );
  it('should not be read through a link, nor their sidecar', async () => {
    writeFileSync(path.join(stateDir, 'elsewhere'), YAML, { mode: 0o600 });
    symlinkSync(path.join(stateDir, 'elsewhere'), path.join(folder, 'one.yaml'));
    expect(await read()).toEqual([LINKED]);
    rmSync(path.join(folder, 'one.yaml'));
    putKey();
    put('one.yaml', YAML);
    writeFileSync(path.join(stateDir, 'sig'), signature('one', YAML), { mode: 0o600 });
    symlinkSync(path.join(stateDir, 'sig'), path.join(folder, 'one.yaml.sig'));
    expect(await read()).toEqual([LINKED]);
  });

  it.each([
    ['the group', 0o660],
    ['everyone', 0o602],
  ])('should not be read where %s may write them, nor in such a folder', async (_, mode) => {
    put('one.yaml', YAML, mode);
    expect(await read()).toEqual(['one: it can be written by others']);
    put('one.yaml', YAML);
    chmodSync(folder, mode | 0o700);
    expect(await read()).toEqual(['one: compiled-policies can be written by others']);
  });

  it.each(['one.yaml', 'one.yaml.sig'])(
    'should not be read when %s is of another user',
    async (whose) => {
      putKey();
      put('one.yaml', YAML);
      put('one.yaml.sig', signature('one', YAML));
      expect(await read()).toEqual(['one']);
      const stat: Files['stat'] = async (file) => {
        const facts = await diskFiles.stat(file);
        if (facts === null || path.basename(file) !== whose) return facts;
        return { ...facts, ownerId: facts.ownerId + 1 };
      };
      expect(await read({ ...diskFiles, stat })).toEqual(['one: it belongs to another user']);
    },
  );

  it('should be as large as Tetragon takes them, and no larger', async () => {
    const padded = (bytes: number) => YAML.padEnd(bytes, '#');
    put('one.yaml', padded(1_048_576));
    expect(await read()).toEqual(['one']);
    put('one.yaml', padded(1_048_577));
    expect(await read()).toEqual(['one: it has more than 1048576 bytes']);
  });

  it('should be refused by field on a PREEMPT_RT kernel where a kprobe overrides, and nowhere else', async () => {
    const withHooks = (...hooks: string[]) =>
      `apiVersion: cilium.io/v1alpha1\nkind: TracingPolicy\nmetadata: {name: one}\nspec:\n${hooks.map((hook) => `  ${hook}\n`).join('')}`;
    const acting = (action: string) => `selectors: [{matchActions: [{action: Post}, ${action}]}]`;
    const override = acting('{action: Override, argError: -1}');
    const kill = acting('{action: Sigkill}');
    const kprobes = `kprobes: [{call: sys_kill, ${kill}}, {call: sys_symlinkat, ${override}}]`;
    const readOn = async (isPreemptRt: boolean) =>
      (await sourceOf(diskFiles, isPreemptRt)()).map((one) => (one.ok ? 'taken' : one.reason));
    put('one.yaml', withHooks(kprobes));
    expect(await readOn(true)).toEqual([
      'spec.kprobes[1].selectors[0].matchActions[1].action: ' +
        'Override in a kprobe stays off on a PREEMPT_RT kernel (BPF_MODIFY_RETURN)',
    ]);
    expect(await readOn(false)).toEqual(['taken']);
    put('one.yaml', withHooks(`kprobes: [{call: sys_kill, ${kill}}]`));
    expect(await readOn(true)).toEqual(['taken']);
    put('one.yaml', withHooks(`lsmhooks: [{hook: file_open, ${override}}]`));
    expect(await readOn(true)).toEqual(['taken']);
  });
});
