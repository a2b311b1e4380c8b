import { spawnSync } from 'node:child_process';
import { createHash, createPublicKey } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { SENSOR_KEY_OLD_BITS } from '../../machines/limits.ts';
import { checkCsr } from './csr.ts';

const folder = mkdtempSync(join(tmpdir(), 'csr-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const nodeName = 'node-1';
type Made = { subject?: string; algorithm?: string[]; digest?: string; extra?: string[] };

function makeCsr({ subject, algorithm, digest, extra }: Made = {}): string {
  const out = join(folder, 'made.csr');
  // The usual key is made once: to make one takes longer than all else here.
  const keyFile = join(folder, 'made.key');
  const key =
    algorithm === undefined && existsSync(keyFile)
      ? ['-key', keyFile]
      : [
          ...(algorithm ?? ['-newkey', 'rsa:3072']),
          '-keyout',
          algorithm ? `${keyFile}.odd` : keyFile,
        ];
  const args = ['req', '-new', ...key, '-nodes'];
  args.push('-subj', subject ?? `/O=Service Sensor/CN=${nodeName}`, `-${digest ?? 'sha256'}`);
  const run = spawnSync('openssl', [...args, '-out', out, ...(extra ?? [])], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  return readFileSync(out, 'utf8');
}
const good = makeCsr();
const detailOf = (csrPem: string) => {
  const result = checkCsr({ csrPem, nodeName });
  return result.ok ? 'accepted' : result.detail;
};

describe('checkCsr', () => {
  it('should accept a good request and return exactly its key', () => {
    const result = checkCsr({ csrPem: good, nodeName });
    if (!result.ok) throw new Error(result.detail);
    const own = createPublicKey(readFileSync(join(folder, 'made.key'), 'utf8'));
    expect(result.publicKeySpki.equals(own.export({ format: 'der', type: 'spki' }))).toBe(true);
    expect(result.keyDigest).toBe(createHash('sha256').update(result.publicKeySpki).digest('hex'));
  });

  it.each([
    ['another CN', { subject: '/O=Service Sensor/CN=node-2' }, 'something else'],
    ['another O', { subject: `/O=admin/CN=${nodeName}` }, 'something else'],
    ['two CNs', { subject: `/O=Service Sensor/CN=${nodeName}/CN=evil` }, 'cannot be read'],
    ['two equal CNs without O', { subject: `/CN=${nodeName}/CN=${nodeName}` }, 'nothing else'],
    ['no O', { subject: `/CN=${nodeName}` }, 'one CN and one O'],
    ['a multi-valued name', { subject: `/O=Service Sensor+CN=${nodeName}` }, 'cannot be read'],
    ['SHA-1', { digest: 'sha1' }, 'SHA-256'],
    ['a short key', { algorithm: ['-newkey', 'rsa:1024'] }, '1024 bits'],
    ['a key of older Sensors', { algorithm: ['-newkey', 'rsa:2048'] }, '2048 bits'],
    [
      'exponent 3',
      {
        algorithm: [
          '-newkey',
          'rsa',
          '-pkeyopt',
          'rsa_keygen_bits:3072',
          '-pkeyopt',
          'rsa_keygen_pubexp:3',
        ],
      },
      'exponent',
    ],
    [
      'an EC key',
      { algorithm: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] },
      'not an RSA',
    ],
  ])('should refuse %s', (_name, made: Made, detail) => {
    expect(detailOf(makeCsr(made))).toContain(detail);
  });

  it('should accept the key of an older Sensor where it is told to, and none below', () => {
    const minBits = SENSOR_KEY_OLD_BITS;
    const of = (algorithm: string[]) =>
      checkCsr({ csrPem: makeCsr({ algorithm }), nodeName, minBits });
    expect(of(['-newkey', 'rsa:2048']).ok).toBe(true);
    expect(of(['-newkey', 'rsa:1536']).ok).toBe(false);
  });

  it('should refuse two blocks, other text, too much text and hostile nesting', () => {
    expect(detailOf(good + good)).toContain('exactly one PEM');
    expect(detailOf(`x${good}`)).toContain('exactly one PEM');
    expect(detailOf(`${good}${' '.repeat(17_000)}`)).toContain('larger than');
    const nested = Buffer.alloc(8_000, Buffer.of(0x30, 0x80)).toString('base64');
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${nested}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(detailOf(pem)).toContain('cannot be read');
  });

  it('should ignore attributes: asking for CA:TRUE changes nothing', () => {
    const asking = makeCsr({ extra: ['-addext', 'basicConstraints=critical,CA:TRUE'] });
    expect(detailOf(asking)).toBe('accepted');
  });

  it('should never throw and never accept a request with flipped bytes', () => {
    const body = good.split('\n').slice(1, -2).join('');
    const der = Buffer.from(body, 'base64');
    const flips = fc.array(fc.tuple(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(flips, (changes) => {
        const bytes = Buffer.from(der);
        for (const [at, bits] of changes) bytes[at] = (bytes[at] ?? 0) ^ bits;
        fc.pre(!bytes.equals(der));
        const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
        return !checkCsr({ csrPem: pem, nodeName }).ok;
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(
        fc.string({ maxLength: 500 }),
        (text) => !checkCsr({ csrPem: text, nodeName }).ok,
      ),
    );
  });
});
