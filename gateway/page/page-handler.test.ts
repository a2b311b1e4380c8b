import { describe, expect, it } from 'vitest';
import { encodingFor, wantsHtml } from './page-handler.ts';
import { isPagePath, PAGE_ROOTS, SETUP_ROOTS } from './page-paths.ts';
import { pagePolicy } from './page-policy.ts';

const asset = {
  contentType: 'text/javascript',
  plain: Buffer.from('plain'),
  encoded: new Map([
    ['br', Buffer.from('br')],
    ['gzip', Buffer.from('gzip')],
  ]),
};

describe('the page', () => {
  it('should be for who asks for HTML by name, and nobody else', () => {
    for (const accept of ['text/html', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8']) {
      expect(wantsHtml(accept)).toBe(true);
    }
    for (const accept of [undefined, '', '*/*', 'application/json', 'text/html;q=0, */*']) {
      expect(wantsHtml(accept)).toBe(false);
    }
  });

  it('should leave the API and the probes alone', () => {
    for (const path of ['/', '/sensors', '/sensors/abc/actor', '/login/reset']) {
      expect(isPagePath(path, PAGE_ROOTS)).toBe(true);
    }
    for (const path of ['/api/v2/sensors', '/livez', '/ca.pem', '/sensorsx', '/setup']) {
      expect(isPagePath(path, PAGE_ROOTS)).toBe(false);
    }
    expect(isPagePath('/setup', SETUP_ROOTS)).toBe(true);
    expect(isPagePath('/sensors', SETUP_ROOTS)).toBe(false);
  });

  it('should send the best encoding that the reader takes', () => {
    expect(encodingFor('gzip, deflate, br, zstd', asset)).toBe('br');
    expect(encodingFor('gzip', asset)).toBe('gzip');
    expect(encodingFor('br;q=0, gzip;q=0.5', asset)).toBe('gzip');
    expect(encodingFor('zstd', asset)).toBeNull();
    expect(encodingFor(undefined, asset)).toBeNull();
  });

  it('should allow nothing unsafe and no other origin', () => {
    const policy = pagePolicy('abc');
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'nonce-abc'");
    expect(policy).toContain("frame-ancestors 'none'");
  });
});
