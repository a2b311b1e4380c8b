// Alert rules over a stream of events: node props/bench/detection.ts [events] [rules]
// How many events a second one core judges, when they come as fast as they are judged and when 100,000 a second are offered;
// what each rule costs; the same conditions as questions to ClickHouse; and what hostile rules do to the ingest.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createAlerts } from '../../actors/detection/alerts.ts';
import { createRuleEngine, type RuleEngine } from '../../actors/detection/rule-engine.ts';
import { compileRule } from '../../machines/detection/rule-compile.ts';
import { RETRY_AFTER_STORE_MS, WHEEL_TICK_MS } from '../../machines/limits.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../storage/memory/telemetry/memory-events.ts';
import { readMigrations } from '../../storage/migrate.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import { silentLogger as logger, openRealAnalytics } from '../contracts/real-stores.ts';
import { batchOf, eventOf, type NamedRule, ruleOf, rulesOf } from './detection-events.ts';

const EVENTS = Number(process.argv[2] ?? 200_000);
const RULES = Number(process.argv[3] ?? 100);
const BATCH = 100;
const OFFERED_PER_SECOND = 100_000;
const TICK_MS = 10;
const HOSTILE_RULES = 10_000;
const LARGE_BYTES = 4 * 1_024 * 1_024;
const LABELS = { tags: [], groupIds: [], role: null };
const say = (text: string) => process.stdout.write(`${text}\n`);
const number = (value: number) => Math.round(value).toLocaleString('en');

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function engineOf(rules: readonly NamedRule[]) {
  const { alerts, alertRules } = createMemoryRelational();
  const stored = createMemoryEvents(RETRY_AFTER_STORE_MS, 1_000);
  const paused: string[] = [];
  let made = 0;
  for (const { ruleId, spec } of rules) {
    const by = { actor: 'bench', from: '', nowMs: Date.now() };
    await alertRules.put({ ...by, ruleId, version: null, spec });
  }
  const chance = {
    newId() {
      made += 1;
      return `0199-${made.toString().padStart(12, '0')}`;
    },
  };
  const engine = createRuleEngine(
    {
      ...{ rules: alertRules, events: stored.events, inbox: alerts, chance },
      alerts: createAlerts({ store: alerts, now: Date.now }),
      ...{ labelsOf: () => LABELS, now: Date.now, monotonicNow: () => performance.now() },
      horizon: async () => Date.now(),
      async pause(row, why) {
        paused.push(`${row.ruleId}: ${why.reason}`);
        const { ruleId, version } = row;
        await alertRules.pause({ ruleId, version, pause: { ...why, atMs: Date.now() } });
      },
    },
    () => undefined,
  );
  await engine.look();
  return { engine, paused };
}

function batches(): readonly EventBatch[] {
  return Array.from({ length: EVENTS / BATCH }, (_, at) => batchOf(at * BATCH, BATCH, Date.now()));
}

/** As fast as they are judged. */
async function closed(rules: readonly NamedRule[], all: readonly EventBatch[]): Promise<void> {
  const { engine } = await engineOf(rules);
  const before = cpuSeconds();
  for (const batch of all) {
    engine.take(batch);
    while (await engine.work());
  }
  const spent = cpuSeconds() - before;
  say(`closed loop, ${rules.length} rules: ${number(EVENTS / spent)} events a second and core`);
  const costs = [...engine.costs()].sort(([, a], [, b]) => b.costMs - a.costMs);
  const nsOf = (ms: number) => number((ms * 1e6) / EVENTS);
  const inside = costs.reduce((sum, [, { costMs }]) => sum + costMs, 0);
  say(`  in a rule on average ${nsOf(inside / rules.length)} ns for an event; the costliest:`);
  for (const [ruleId, { costMs }] of costs.slice(0, 5)) say(`    ${ruleId}: ${nsOf(costMs)} ns`);
}

/** Offered at a rate, whatever becomes of them; rules work between two offers. */
async function offered(rules: readonly NamedRule[], all: readonly EventBatch[]): Promise<void> {
  const { engine, paused } = await engineOf(rules);
  const [before, began] = [cpuSeconds(), performance.now()];
  let [at, judged] = [0, 0];
  while (at < all.length) {
    const due = Math.min(
      all.length,
      Math.floor(((performance.now() - began + TICK_MS) * OFFERED_PER_SECOND) / 1_000 / BATCH),
    );
    for (; at < due; at += 1) engine.take(all[at] as EventBatch);
    const queued = engine.queued();
    await engine.work();
    judged += Math.max(0, queued - engine.queued());
    await turn();
  }
  const wall = (performance.now() - began) / 1_000;
  const perCore = judged / (cpuSeconds() - before);
  say(
    `${number(EVENTS / wall)} events a second offered: ${number(judged / wall)} judged as they came, ` +
      `${number(perCore)} a second and core; the others are read from the store; paused: ${paused.length}`,
  );
}

async function asQuestions(rules: readonly NamedRule[], all: readonly EventBatch[]): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'detection-bench-'));
  chmodSync(dataDir, 0o711);
  const launcher = createClickhouseLauncher({ dataDir: join(dataDir, 'ch'), logger });
  const store = await launcher.start(new AbortController().signal);
  const { analytics, close } = await openRealAnalytics(store.endpoint);
  try {
    for (const { store: of, sql } of await readMigrations()) {
      if (of !== 'analytics') continue;
      for (const statement of sql.split(/^;$/m)) {
        if (statement.trim() !== '') await analytics.command(statement);
      }
    }
    await Promise.all(all.map((batch) => analytics.sink.append(batch)));
    const took: number[] = [];
    for (const { ruleId, spec } of rules) {
      const compiled = compileRule(ruleId, spec);
      const condition = compiled.ok ? compiled.rule.conditions[0] : undefined;
      if (condition === undefined) continue;
      const began = performance.now();
      await analytics.events.countDistinct({ condition });
      took.push(performance.now() - began);
    }
    const sum = took.reduce((total, one) => total + one, 0);
    const sorted = took.sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    say(
      `${rules.length} rules as questions to ClickHouse over ${number(EVENTS)} events: ${number(sum)} ms, ` +
        `median ${number(median)} ms, ${number((EVENTS / sum) * 1_000)} events a second for all rules`,
    );
  } finally {
    await close();
    await store.stop(10_000);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** What is taken in, beside rules that work; the longest time in which nothing else ran. */
async function ingestBeside(name: string, engine: RuleEngine | null, all: readonly EventBatch[]) {
  const perSecond = 10_000;
  let [stallMs, lastMs, working] = [0, performance.now(), false];
  const began = performance.now();
  for (let at = 0; at < all.length; ) {
    const nowMs = performance.now();
    stallMs = Math.max(stallMs, nowMs - lastMs);
    lastMs = nowMs;
    const due = Math.min(
      all.length,
      Math.floor(((nowMs - began + TICK_MS) * perSecond) / 1e3 / BATCH),
    );
    // What ingest does with a batch: it reads it.
    for (; at < due; at += 1) {
      const batch = JSON.parse(JSON.stringify(all[at])) as EventBatch;
      engine?.take(batch);
    }
    if (engine !== null && !working) {
      working = true;
      void engine.work().then((hasMore) => {
        // As the loop does: at once for what comes while it is idle, otherwise at the next tick of the wheel.
        setTimeout(
          () => {
            working = false;
          },
          hasMore ? WHEEL_TICK_MS : 0,
        );
      });
    }
    await turn();
  }
  const rate = (all.length * BATCH) / ((performance.now() - began) / 1_000);
  say(`  ${name}: ${number(rate)} events a second taken in, longest stall ${number(stallMs)} ms`);
}

async function hostile(all: readonly EventBatch[]): Promise<void> {
  say('ingest of 10,000 events a second beside hostile rules:');
  const part = all.slice(0, 500);
  await ingestBeside('no rules', null, part);
  const match = (ruleId: string, condition: string): NamedRule => ({
    ruleId,
    spec: { rule_name: ruleId, severity: 'low', detect: { kind: 'match', condition } },
  });
  const catastrophic = match('pattern', 'arguments=~"(([a-z]+)*)+[0-9]+(x+x+)+y"');
  await ingestBeside('catastrophic pattern', (await engineOf([catastrophic])).engine, part);
  await ingestBeside(
    'matches everything',
    (await engineOf([match('all', 'binary:*')])).engine,
    part,
  );
  const many = Array.from({ length: HOSTILE_RULES }, (_, at) => ruleOf(`many-${at}`, at));
  await ingestBeside('10,000 rules', (await engineOf(many)).engine, part);
  const large = { ...eventOf(0, Date.now()), message: 'a'.repeat(LARGE_BYTES) };
  const [first] = part;
  const withLarge = [{ ...(first as EventBatch), events: [large] }, ...part.slice(1)];
  const rules = await rulesOf(RULES);
  await ingestBeside('an event of 4 MB', (await engineOf(rules)).engine, withLarge);
}

const all = batches();
const rules = await rulesOf(RULES);
await closed(rules, all);
await offered(rules, all);
await hostile(all);
if (process.argv[4] !== 'alone') await asQuestions(rules, all);
