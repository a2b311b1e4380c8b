// A database that an older Console left: its rows, as its migrations and its code wrote them, are read whole and can be
// changed after this code's migrations ran over them.
import { expect, it } from 'vitest';
import { applyMigrations, readMigrations } from '../../storage/migrate.ts';
import { createRelational, type Relational } from '../../storage/relational/relational.ts';
import { silentLogger as logger, relationalOptions } from './real-stores.ts';
import { hashOf, hex, NOW_MS } from './samples.ts';

/** The newest migration that the older Console had. */
const NEWEST_THEN = 7;
const SENSOR = `
  INSERT INTO sensors (sensor_id, node_name, flavor, labels, system, boot_id, sensor_version, flavor_mismatch,
    enrolled_at_ms, last_heartbeat_at_ms, declared_role)
  VALUES ('old-sensor', 'node-1', 'standard', '{"rack":"7"}',
    '{"os":"linux","arch":"x64","kernel_release":"6.1","kernel_version":"1","hostname":"node-1"}', 'boot', '0.1.0', false,
    1000, 2000, 'edge');
  INSERT INTO sensor_certificates VALUES ('old-print', 'old-sensor', 'current', 'ref', '01', 'digest', 'pem', 1000, 9000,
    1000, NULL)`;
const PEOPLE = `
  INSERT INTO users (user_id, email, email_key, display_name, role, status, tags, password_hash, created_at_ms, mfa_state,
    mfa_secret_sealed, mfa_last_step, revision)
  VALUES ('old-user', 'Ada@example.org', 'ada@example.org', 'Ada', 'admin', 'active', '[]', 'argon', 1000, 'on', 'sealed',
    7, 3);
  INSERT INTO sessions (hash, session_id, user_id, stage, method, address, user_agent, created_at_ms, last_seen_at_ms,
    expires_at_ms)
  VALUES (decode('HASH', 'hex'), 'old-session', 'old-user', 'full', 'password', '127.0.0.1', 'curl', 1500, 1500, 90000);
  INSERT INTO api_keys (key_id, hash, name, scopes, created_at_ms)
  VALUES ('old-key', decode('HASH', 'hex'), 'backup', '["sensors:read"]', 1000)`;
const REST = `
  INSERT INTO enrollment_tokens (token_id, hash, kind, note, created_at_ms, expires_at_ms)
  VALUES ('old-token', decode('HASH', 'hex'), 'enroll', 'rack 7', 1000, 9000);
  INSERT INTO settings (name, value, changed_at_ms) VALUES ('license_grace_days', '45', 1000);
  UPDATE license_state SET revision = 2, envelope = '{}', imported_at_ms = 1000, imported_by = 'ada', seen_ms = 1000;
  INSERT INTO inventory_sections (sensor_id, section, hash, items, stored_at_ms)
  VALUES ('old-sensor', 'packages', 'h', '[]', 1000);
  INSERT INTO audit_records (at_ms, actor, action, target, result, detail)
  VALUES (1000, 'ada', 'token.create', 'old-token', 'ok', '{}')`;

/** `at` names a server that may have one more database. */
export function agedDatabaseContract(
  at: () => { readonly url: string; readonly pool: Pool },
): void {
  it('should open what an older Console left, and lose nothing of it', async () => {
    const { pool, url } = at();
    const name = `aged_${hex(4)}`;
    const target = new URL(url);
    target.pathname = `/${name}`;
    await pool.query(`CREATE DATABASE ${name}`);
    const aged = createRelational({ ...relationalOptions, url: target.toString(), logger });
    try {
      await ageTo(aged, NEWEST_THEN);
      for (const sql of [SENSOR, PEOPLE, REST]) {
        await aged.pool.query(sql.replaceAll('HASH', hashOf('old').toString('hex')));
      }
      await ageTo(aged, Number.POSITIVE_INFINITY);
      await expectWhole(aged);
    } finally {
      await aged.close();
      await pool.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });
}

type Pool = Pick<Relational['pool'], 'query'>;

async function ageTo({ pool }: Relational, newest: number): Promise<void> {
  const migrations = (await readMigrations()).filter(
    ({ store, number }) => store === 'relational' && number <= newest,
  );
  const analytics = () => Promise.reject(new Error('nothing is asked of the other store'));
  const outcome = await applyMigrations({ pool, analytics, migrations, only: ['relational'] });
  expect(outcome.ok).toBe(true);
}

async function expectWhole(aged: Relational): Promise<void> {
  const hash = hashOf('old');
  expect(await aged.sensors.getSensor('old-sensor')).toMatchObject({
    ...{ nodeName: 'node-1', declaredRole: 'edge', labels: { rack: '7' }, revokedAtMs: null },
    ...{ enrolledAtMs: 1_000, lastHeartbeatAtMs: 2_000 },
  });
  expect(await aged.sensors.loadIdentities()).toMatchObject([
    { sensorId: 'old-sensor', fingerprint: 'old-print', status: 'current' },
  ]);
  expect(await aged.sensors.findToken(hash)).toMatchObject({ tokenId: 'old-token' });
  expect(await aged.users.findByEmail('ada@example.org')).toMatchObject({
    ...{ userId: 'old-user', role: 'admin', mfa: { state: 'on' } },
  });
  expect(await aged.sessions.findByHash(hash)).toMatchObject({ sessionId: 'old-session' });
  expect(await aged.apiKeys.findByHash(hash)).toMatchObject({ keyId: 'old-key', name: 'backup' });
  expect(await aged.settings.list()).toMatchObject([{ name: 'license_grace_days', value: 45 }]);
  expect(await aged.license.observe({ nowMs: 1, seenMs: 1, revision: 0 })).toMatchObject({
    ...{ revision: 2, license: { importedBy: 'ada' } },
  });
  expect(await aged.inventory.get('old-sensor', 'packages')).toMatchObject({ hash: 'h' });
  const row = await aged.sensors.revoke({
    ...{ sensorId: 'old-sensor', reason: 'old', actor: 'ada', nowMs: NOW_MS },
  });
  expect(row?.revokedReason).toBe('old');
  const told = (await aged.audit.recent(10)).map(({ action }) => action);
  expect(told).toEqual(['sensor.revoke', 'token.create']);
}
