import { createPrivateKey } from 'node:crypto';
import forge from 'node-forge';
import { describe, expect, it } from 'vitest';
import { buildSigningRequest, generateKeyPem } from './signing-request.ts';
import { isTrustTrouble, troubleOf } from './trouble.ts';

describe('signing request', () => {
  it('should be read and verified by another implementation, with exactly the documented subject', async () => {
    const key = createPrivateKey(await generateKeyPem());
    const csr = forge.pki.certificationRequestFromPem(await buildSigningRequest('node-1', key));
    expect(csr.verify()).toBe(true);
    expect(csr.subject.attributes.map(({ shortName, value }) => [shortName, value])).toEqual([
      ['CN', 'node-1'],
      ['O', 'Service Sensor'],
    ]);
    await expect(buildSigningRequest('a\nb', key)).rejects.toThrow();
  });
});

describe('trouble', () => {
  it('should tell an expired certificate from other trouble', () => {
    const of = (code: string, message = '') =>
      troubleOf(Object.assign(new Error(message), { code })).kind;
    expect(of('ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED')).toBe('certificate_expired');
    expect(of('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')).toBe('certificate_refused');
    expect(of('UNABLE_TO_VERIFY_LEAF_SIGNATURE')).toBe('console_not_trusted');
    expect(of('CERT_HAS_EXPIRED')).toBe('console_not_trusted');
    expect(of('ECONNREFUSED')).toBe('connection_refused');
    expect(of('ECONNRESET')).toBe('connection_lost');
    expect(isTrustTrouble('connection_lost')).toBe(false);
  });
});
