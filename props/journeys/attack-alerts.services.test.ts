// The scripted intruder on a real node raises alerts of the starter rules: each as soon as its event is durable. Somebody takes
// them, collects them with their events in an investigation, and what was found leaves as an archive that is verified
// without the Console. decision: D131, D143

import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readRuleLibrary } from '../../gateway/cli/detection/rule-library.ts';
import { api } from './api.ts';
import { type AttackerStage, openAttackerStage } from './attacker-stage.ts';
import { missingForEbpf } from './ebpf.ts';
import {
  createToken,
  endOf,
  isHealthy,
  isSkipped,
  onlySensor,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { eventually, type Home, makeHome, removeHome, startProgram } from './programs.ts';

const TIMEOUT_MS = 900_000;
const WAIT_MS = 60_000;
const CONSOLE = 'gateway/cli/service-console.js';
/** What the script does that starter rules look for. */
const EXPECTED = ['kernel-module-loaded', 'password-file-read'];

type Alert = {
  readonly alert_id: string;
  readonly rule_id: string;
  readonly state: string;
  readonly created_at: string;
  readonly event_ids: readonly string[];
};
type Event = { readonly event_id: string; readonly received_at: string };

type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>;

let home: Home | null = null;
let stage: AttackerStage | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
  stage?.close();
});

it.skipIf(isSkipped('attack-alerts', missingForEbpf()))(
  'should raise its alerts as its events become durable, and leave as an archive that verifies',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome({ STREAM_TICK_MS: 200 });
    const at = home;
    const running = await startConsole(at);
    startSensor(at, { token: await createToken(at) });
    await onlySensor(at, isHealthy);
    const ask: Ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const answer = await api(at, method, `/api/v2${path}`, body);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body as T;
    };
    for (const one of await readRuleLibrary()) {
      if (!one.ok) throw new Error(one.faults.join());
      const { ruleId: rule_id, spec } = one.file;
      await ask('POST', '/alert-rules', { rule_id, spec });
    }
    stage = await openAttackerStage();
    await stage.attack();
    const alerts = await eventually(
      'its alerts are raised',
      async () => {
        const { items } = await ask<{ items: readonly Alert[] }>('GET', '/alerts?limit=100');
        const rules = new Set(items.map(({ rule_id }) => rule_id));
        return EXPECTED.every((rule) => rules.has(rule)) ? items : null;
      },
      WAIT_MS,
    );
    const own = alerts.filter(({ rule_id }) => EXPECTED.includes(rule_id));
    const lateMs = await Promise.all(own.map((alert) => latenessOf(ask, alert)));
    process.stderr.write(`attack: alerts came ${lateMs.join(', ')} ms after their events\n`);
    for (const late of lateMs) expect(late).toBeGreaterThanOrEqual(0);

    for (const { alert_id } of own) await ask('POST', `/alerts/${alert_id}/acknowledge`);
    const made = await ask<{ investigation_id: string }>('POST', '/investigations', {
      name: 'an intruder',
    });
    const run = async (...words: readonly string[]) => {
      const ended = await endOf(startProgram(CONSOLE, words, { env: at.env }));
      expect(ended.code, ended.output).toBe(0);
      return ended.output;
    };
    for (const { alert_id } of own) {
      await run('investigations', 'add', made.investigation_id, '--alert', alert_id);
    }
    const file = join(at.folder, 'intruder.tar.gz');
    await run('investigations', 'export', made.investigation_id, '--file', file);
    // From here on there is no Console.
    expect(await stop(running)).toBe(0);
    expect(await run('investigations', 'verify', file)).toContain('as they were exported');
  },
);

/** From the receipt of its first event to the alert; the event became durable in between. */
async function latenessOf(ask: Ask, { alert_id, created_at }: Alert): Promise<number> {
  const { items } = await ask<{ items: readonly Event[] }>('GET', `/alerts/${alert_id}/events`);
  const received = items.map(({ received_at }) => Date.parse(received_at));
  return Date.parse(created_at) - Math.min(...received);
}
