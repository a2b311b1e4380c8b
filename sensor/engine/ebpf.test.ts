import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EBPF_ENGINE_FILE, ebpfEngineFile, whyNoEbpf } from './ebpf.ts';
import { layOutAndChoose } from './lay-out.ts';
import { whyNotHere } from './native/engine-rig.ts';

const canRunProgram = process.platform === 'linux' && process.arch === 'x64';
if (!canRunProgram)
  process.stdout.write('ebpf engine file: skipped, it is built for x86-64 Linux\n');
const noBundle = async () => 'no bundle is named';
const NAME = 'ebpf-engine-x86_64';
const committed = new URL('./native/', import.meta.url);

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-file-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe.skipIf(!canRunProgram)('ebpf engine file', () => {
  it('should be what was committed, small, and without a machine path in it', async () => {
    const found = await ebpfEngineFile();
    if (!found.ok) throw new Error(found.reason);
    expect(found.file.content.byteLength).toBeLessThan(2_000_000);
    const text = Buffer.from(found.file.content).toString('latin1');
    expect(text).toContain('Dual BSD/GPL');
    expect(text).not.toContain(fileURLToPath(committed));
  });

  it('should not be used when one byte of it is another', async () => {
    for (const name of [NAME, `${NAME}.sha256`]) {
      copyFileSync(new URL(name, committed), path.join(directory, name));
    }
    const place = path.join(directory, NAME);
    const content = readFileSync(place);
    content.writeUInt8(content.readUInt8(5_000) ^ 1, 5_000);
    writeFileSync(place, content);
    expect(await ebpfEngineFile(pathToFileURL(`${directory}/`))).toEqual({
      ok: false,
      reason: expect.stringContaining('SHA-256'),
    });
  });

  it('should say why a program that is not there or fails cannot be used', async () => {
    expect(await whyNoEbpf(path.join(directory, 'none'))).toMatch(/does not start/);
    const place = path.join(directory, 'failing');
    writeFileSync(place, '#!/bin/sh\necho \'{"error":"x","reason":"too old"}\' >&2; exit 3\n', {
      mode: 0o700,
    });
    expect(await whyNoEbpf(place)).toBe('too old');
  });

  it('should be laid out to be run by its owner only, and chosen where the kernel takes it', async () => {
    const { directory: engine, choice } = await layOutAndChoose(directory, 'auto', {
      whyNotTetragon: noBundle,
    });
    expect(statSync(path.join(engine, EBPF_ENGINE_FILE)).mode & 0o777).toBe(0o700);
    const refused = whyNotHere(directory);
    expect(choice).toMatchObject({ ok: true, kind: refused === undefined ? 'ebpf' : 'procfs' });
    expect(choice.ok && choice.passedOver[0]?.hook).toBe('engine/tetragon');
  });

  it('should refuse an engine that was asked for and is not there', async () => {
    expect(
      (await layOutAndChoose(directory, 'tetragon', { whyNotTetragon: noBundle })).choice,
    ).toMatchObject({
      ok: false,
    });
  });
});
