// How long it takes to verify an audit trail of 10,000 rows from its exported text: node props/bench/audit.ts [rows]
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkpointBytes, hashOfRow } from '../../actors/audit/audit-hash.ts';
import { readTrailFile, verifyTrail } from '../../gateway/cli/audit/audit-verify.ts';
import { auditItemOf, checkpointItemOf } from '../../gateway/operator-plane/audit/audit-view.ts';
import { AUDIT_SEAL_BATCH_ROWS } from '../../machines/limits.ts';
import { createMemoryAudit } from '../../storage/memory/audit/audit-log.ts';

const rows = Number(process.argv[2] ?? 10_000);
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));
const { audit, chain, record } = createMemoryAudit();
for (let at = 0; at < rows; at += 1) {
  record({
    ...{ atMs: at, actor: 'api-key:admin', action: 'token.create', target: `token-${at}` },
    ...{ result: 'ok', from: '192.0.2.7', after: { kind: 'enroll', note: `node ${at}` } },
    detail: {},
  });
}
const sealStartMs = performance.now();
for (let sealed = 0; sealed < rows; sealed += AUDIT_SEAL_BATCH_ROWS) {
  await chain.seal({ limit: AUDIT_SEAL_BATCH_ROWS, hashOf: hashOfRow });
  await chain.checkpoint((head) => {
    const one = { ...head, atMs: sealed };
    const signature = sign(null, checkpointBytes(one), privateKey).toString('base64');
    return { ...one, publicKeyPem, signature };
  });
}
const sealMs = performance.now() - sealStartMs;
const folder = mkdtempSync(join(tmpdir(), 'audit-bench-'));
try {
  const file = join(folder, 'trail.jsonl');
  const trail = await audit.search({ order: 'chain', after: null, limit: rows });
  const checkpoints = await chain.checkpoints({ after: 0, limit: rows });
  const lines = [...checkpoints.map(checkpointItemOf), ...trail.map(auditItemOf)];
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const startMs = performance.now();
  const read = await readTrailFile(file);
  const readMs = performance.now() - startMs;
  const verdict = verifyTrail(read, { keyPems: [publicKeyPem], logged: [] });
  const allMs = performance.now() - startMs;
  const whole = verdict.isIntact && verdict.sealedRows === rows ? 'intact' : 'DAMAGED';
  process.stdout.write(
    `${rows} rows, ${checkpoints.length} checkpoints: ${whole}; sealed in ${sealMs.toFixed(0)} ms, ` +
      `read in ${readMs.toFixed(0)} ms, verified in ${(allMs - readMs).toFixed(0)} ms, ` +
      `together ${allMs.toFixed(0)} ms\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
