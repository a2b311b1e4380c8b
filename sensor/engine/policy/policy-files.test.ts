import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { policyMessage } from '../../../machines/trust/policy-signature.rules.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { readPolicyFiles } from './policy-files.ts';

const YAML = 'apiVersion: cilium.io/v1alpha1\n';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicPem = publicKey.export({ format: 'pem', type: 'spki' }).toString();

let state = '';
let folder = '';
beforeEach(() => {
  state = mkdtempSync(path.join(tmpdir(), 'policies-'));
  folder = path.join(state, 'compiled-policies');
  mkdirSync(folder, { mode: 0o700 });
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const put = (name: string, content: string | Uint8Array, mode = 0o600) => {
  writeFileSync(path.join(folder, name), content);
  chmodSync(path.join(folder, name), mode);
};
const putKey = (pem = publicPem) => {
  writeFileSync(path.join(state, 'policy-signing.pub'), pem, { mode: 0o600 });
};
const signed = (name: string, yaml = YAML) =>
  sign(null, policyMessage(name, Buffer.from(yaml)), privateKey).toString('base64');
const read = () => readPolicyFiles(diskFiles, state);
const taken = async () => (await read()).map((one) => (one.ok ? one.name : `not ${one.name}`));

describe('the folder of policies', () => {
  it('should be empty where it is absent', async () => {
    rmSync(folder, { recursive: true });
    expect(await read()).toEqual([]);
  });

  it('should give a policy whose sidecar is genuine, under either name of a sidecar', async () => {
    putKey();
    put('a.yaml', YAML);
    put('a.yaml.sig', `${signed('a')}\n`);
    put('b.yaml', YAML);
    put('b.sig', signed('b'));
    expect(await read()).toEqual([
      { ok: true, name: 'a', yaml: YAML, digest: expect.any(String), isUnsigned: false },
      expect.objectContaining({ ok: true, name: 'b', isUnsigned: false }),
    ]);
  });

  it('should take a sidecar that is wrapped as `openssl base64` does', async () => {
    const sidecar = signed('a').trim();
    putKey();
    put('a.yaml', YAML);
    put('a.yaml.sig', `${sidecar.slice(0, 64)}\n${sidecar.slice(64)}\n`);
    expect(await taken()).toEqual(['a']);
    put('a.yaml.sig', `${sidecar.slice(0, 64)}\r\n${sidecar.slice(64)}\r\n`);
    expect(await taken()).toEqual(['a']);
    // The same bytes in another text: what the last character has to spare.
    const next = String.fromCharCode(sidecar.charCodeAt(85) + 1);
    put('a.yaml.sig', `${sidecar.slice(0, 85)}${next}==`);
    expect(await taken()).toEqual(['not a']);
    put('a.yaml.sig', `${sidecar.slice(0, 30)}\n${sidecar.slice(30)}\n`);
    expect(await taken()).toEqual(['not a']);
  });

  it('should take a policy without a sidecar, with a word where there is a key', async () => {
    put('a.yaml', YAML);
    expect(await read()).toEqual([expect.objectContaining({ ok: true, isUnsigned: false })]);
    putKey();
    expect(await read()).toEqual([expect.objectContaining({ ok: true, isUnsigned: true })]);
  });

  it('should refuse a sidecar without a key to verify it', async () => {
    put('a.yaml', YAML);
    put('a.yaml.sig', signed('a'));
    expect(await taken()).toEqual(['not a']);
    putKey('-----BEGIN PUBLIC KEY-----\nnone\n-----END PUBLIC KEY-----\n');
    expect(await taken()).toEqual(['not a']);
  });

  it('should refuse a policy that was renamed, and a sidecar of another', async () => {
    putKey();
    put('a.yaml', YAML);
    put('a.yaml.sig', signed('a'));
    renameSync(path.join(folder, 'a.yaml'), path.join(folder, 'b.yaml'));
    renameSync(path.join(folder, 'a.yaml.sig'), path.join(folder, 'b.yaml.sig'));
    expect(await taken()).toEqual(['not b']);
  });

  it('should refuse whatever byte of policy, sidecar or key is another', async () => {
    const sidecar = signed('a');
    for (const [which, original] of [
      ['a.yaml', Buffer.from(YAML)],
      ['a.yaml.sig', Buffer.from(sidecar)],
    ] as const) {
      putKey();
      put('a.yaml', YAML);
      put('a.yaml.sig', sidecar);
      expect(await taken()).toEqual(['a']);
      for (let place = 0; place < original.length; place += 1) {
        const changed = Buffer.from(original);
        changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
        put(which, changed);
        expect(await taken(), `${which} ${place}`).toEqual(['not a']);
      }
      put(which, original);
    }
    const other = createPublicKey(
      createPrivateKey(
        generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }),
      ),
    );
    putKey(other.export({ format: 'pem', type: 'spki' }).toString());
    expect(await taken()).toEqual(['not a']);
  });

  it('should look into nothing that others may write, that is linked, or that has no name', async () => {
    put('open.yaml', YAML, 0o666);
    put('a%2f..yaml', YAML);
    put('Upper.yaml', YAML);
    put('short.yml', YAML);
    put('empty.yaml', '');
    put('bytes.yaml', Buffer.from([0x61, 0xff]));
    put('large.yaml', 'x'.repeat(70_000));
    put('twice.yaml', YAML);
    put('twice.sig', signed('twice'));
    put('twice.yaml.sig', signed('twice'));
    writeFileSync(path.join(state, 'elsewhere'), YAML, { mode: 0o600 });
    symlinkSync(path.join(state, 'elsewhere'), path.join(folder, 'linked.yaml'));
    mkdirSync(path.join(folder, 'folder.yaml'));
    put('good.yaml', YAML);
    const found = await read();
    expect(found.filter(({ ok }) => ok).map(({ name }) => name)).toEqual(['good']);
    expect(found).toHaveLength(11);
  });

  it('should be closed to others itself', async () => {
    put('a.yaml', YAML);
    chmodSync(folder, 0o777);
    expect(await taken()).toEqual(['not a']);
  });

  it('should hold no more than its bound', async () => {
    for (let i = 0; i < 70; i += 1) put(`p${i}.yaml`, YAML);
    expect((await read()).filter(({ ok }) => ok)).toHaveLength(64);
  });
});
