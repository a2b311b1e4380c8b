// Authorities of peers. To make a root takes longer than most tests, so one that a peer gave back serves the next peer of
// this process; no two that are open have the same.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';

type Authority = Extract<
  Awaited<ReturnType<typeof openCertificateAuthority>>,
  { readonly ok: true }
>['authority'];
const unused = new Set<Authority>();

/** An authority that no other peer has until it is given back, which the peer does when it closes. */
export async function borrowAuthority(): Promise<{
  readonly authority: Authority;
  giveBack(): void;
}> {
  const [authority = await make()] = unused;
  unused.delete(authority);
  return { authority, giveBack: () => void unused.add(authority) };
}

async function make(): Promise<Authority> {
  const folder = mkdtempSync(join(tmpdir(), 'peer-authority-'));
  try {
    const opened = await openCertificateAuthority({ folder, nowMs: Date.now() });
    if (!opened.ok) throw new Error(opened.reason);
    return opened.authority;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
