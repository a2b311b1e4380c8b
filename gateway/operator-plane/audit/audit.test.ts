// The audit trail over the operator API: who may see it, what a question finds, and what leaves the Console.
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkpointBytes, hashOfRow } from '../../../actors/audit/audit-hash.ts';
import { lineOf } from '../../../machines/trust/audit-trail.rules.ts';
import { createMemoryAudit } from '../../../storage/memory/audit/audit-log.ts';
import type { AuditEntry } from '../../../storage/ports/audit/audit-log.ts';
import { verifyTrail } from '../../cli/audit/audit-verify.ts';
import {
  createFixture,
  type Fixture,
  NOW_MS,
  sealedElsewhere,
} from '../plumbing/operator-plane.fixture.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));
let fixture: Fixture;
let trail = createMemoryAudit();
beforeEach(async () => {
  trail = createMemoryAudit();
  fixture = await createFixture({
    relational: { audit: trail.audit, auditChain: sealedElsewhere(trail.chain) },
  });
});
afterEach(() => fixture.close());

const entry = (index: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{
    atMs: NOW_MS - index * 1_000,
    actor: `a${index}`,
    action: 'team.create',
    target: `t${index}`,
  },
  ...{ result: 'ok', detail: {}, ...more },
});
function record(...entries: readonly AuditEntry[]): void {
  for (const one of entries) trail.record(one);
}
async function sealAndSign(): Promise<void> {
  await trail.chain.seal({ limit: 1_000, hashOf: hashOfRow });
  await trail.chain.checkpoint((head) => {
    const one = { ...head, atMs: NOW_MS };
    const signature = sign(null, checkpointBytes(one), privateKey).toString('base64');
    return { ...one, publicKeyPem, signature };
  });
}
async function ask(url: string, accept = 'application/json', scopes = ['audit:read']) {
  const authorization = `Bearer ${fixture.addKey(scopes)}`;
  return fixture.app.inject({ url: `/api/v2${url}`, headers: { authorization, accept } });
}

describe('GET /audit', () => {
  it('should need its own scope', async () => {
    for (const url of ['/audit', '/audit/checkpoints']) {
      expect((await fixture.app.inject({ url: `/api/v2${url}` })).statusCode).toBe(401);
      const others = ['sensors:write', 'tokens:write', 'events:read', 'system:read'];
      expect((await ask(url, undefined, others)).json().code).toBe('role_required');
      expect((await ask(url)).statusCode).toBe(200);
    }
  });

  it('should find by every field and by time, newest first', async () => {
    const revoke = { action: 'sensor.revoke' as const, from: '::1', after: { is_revoked: true } };
    record(entry(9), entry(5, { actor: 'op', result: 'no' }), entry(1, { actor: 'op', ...revoke }));
    const find = async (query: string) => {
      const { items } = (await ask(`/audit?${query}`)).json();
      return items.map((item: { target: string }) => item.target);
    };

    expect(await find('')).toEqual(['t1', 't5', 't9']);
    expect(await find('actor=op')).toEqual(['t1', 't5']);
    expect(await find('actor=op&result=no')).toEqual(['t5']);
    expect(await find('action=sensor.revoke')).toEqual(['t1']);
    expect(await find('target=t9')).toEqual(['t9']);
    expect(await find('from=now-6s&to=now-2s')).toEqual(['t5']);
    const [item] = (await ask('/audit?target=t1')).json().items;
    expect(item).toMatchObject({ from: '::1', before: null, after: { is_revoked: true } });
    expect(item).toMatchObject({ at: '2026-03-01T11:59:59.000Z', sequence: null, hash: null });
  });

  it('should refuse what it does not know', async () => {
    for (const query of ['who=op', 'from=yesterday', 'order=random', 'limit=0', 'cursor=x.y']) {
      const { statusCode } = await ask(`/audit?${query}`);
      expect([query, statusCode >= 400 && statusCode < 500]).toEqual([query, true]);
    }
  });

  it.each(['newest', 'chain'])('should page in the order %s without a gap', async (order) => {
    record(...Array.from({ length: 5 }, (_, index) => entry(index)));
    await trail.chain.seal({ limit: 3, hashOf: hashOfRow });
    const found: number[] = [];
    let next: string | null = '';
    while (next !== null) {
      const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
      const page = (await ask(`/audit?limit=2&order=${order}${cursor}`)).json();
      found.push(...page.items.map((item: { audit_id: number }) => item.audit_id));
      next = page.next_cursor;
    }
    expect(found).toEqual(order === 'newest' ? [5, 4, 3, 2, 1] : [1, 2, 3, 4, 5]);
  });
});

describe('exports of the audit trail', () => {
  it('should stream JSON lines that verify, and tell the trail who took them', async () => {
    record(...Array.from({ length: 2_500 }, (_, index) => entry(index % 9)));
    await sealAndSign();
    record(entry(1));

    const answer = await ask('/audit', 'application/x-ndjson');

    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const lines = answer.payload.trim().split('\n');
    const read = lines.map((line) => lineOf(line));
    const rows = read.flatMap((one) => (one !== null && 'row' in one ? [one.row] : []));
    const checkpoints = read.flatMap((one) =>
      one !== null && 'checkpoint' in one ? [one.checkpoint] : [],
    );
    const whole = { rows, checkpoints, unreadable: [] };
    expect(verifyTrail(whole, { keyPems: [publicKeyPem], logged: [] })).toMatchObject({
      ...{ isIntact: true, sealedRows: 1_000, signedRows: 1_000 },
    });
    expect(rows.at(-1)).toMatchObject({ action: 'audit.export', target: 'ndjson' });
  });

  it('should give CSV whose cells are never formulas', async () => {
    const odd = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', 'a"b,c', 'd\ne'];
    record(...odd.map((actor) => entry(1, { actor, detail: { k: 'v,"w"' } })));

    const answer = await ask('/audit?action=team.create', 'text/csv');

    const [head, ...lines] = answer.payload.trim().split('\r\n');
    expect(head).toBe(
      'audit_id,at,actor,action,target,result,from,before,after,detail,sequence,hash',
    );
    expect(lines).toHaveLength(odd.length);
    for (const line of lines) expect(line.split(',')[2]).not.toMatch(/^"?[=+\-@\t\r]/);
    expect(answer.payload).toContain(`'=1+1`);
    expect(answer.payload).toContain('"a""b,c"');
  });

  it('should list checkpoints in pages', async () => {
    for (let index = 0; index < 3; index += 1) {
      record(entry(index));
      await sealAndSign();
    }
    const first = (await ask('/audit/checkpoints?limit=2')).json();
    const cursor = encodeURIComponent(first.next_cursor);
    const second = (await ask(`/audit/checkpoints?limit=2&cursor=${cursor}`)).json();
    const sequences = [...first.items, ...second.items].map(
      (item: { sequence: number }) => item.sequence,
    );
    expect([sequences, second.next_cursor]).toEqual([[1, 2, 3], null]);
  });
});
