// Alert rules in files: a rule with its id, and events that it has to find or must not. The starter library is such files;
// an operator reads, changes and applies them as their own. decision: D132
import { readdir, readFile } from 'node:fs/promises';
import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import { compileRule } from '../../../machines/detection/rule-compile.ts';
import { createRuleRun } from '../../../machines/detection/rule-run.ts';
import { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import type { EventProcess, StoredEvent } from '../../../machines/wire/event.ts';

const FOLDER = new URL('../../rule-library/', import.meta.url);
const ENDING = '.yaml';
const SPEC = Compile(RuleSpec);
const BEGIN_MS = Date.UTC(2026, 0);
const STEP_MS = 1_000;
const NO_LABELS = { tags: [], groupIds: [], role: null };

export type RuleFile = {
  readonly ruleId: string;
  readonly spec: RuleSpec;
  /** Parts of events, one second apart. */
  readonly triggers: readonly object[];
  readonly never: readonly object[];
};
export type RuleFileOrFaults =
  | { readonly ok: true; readonly file: RuleFile }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Every rule of the library, by its name. */
export async function readRuleLibrary(): Promise<readonly RuleFileOrFaults[]> {
  const files = (await readdir(FOLDER)).filter((one) => one.endsWith(ENDING)).sort();
  return Promise.all(
    files.map(async (file) => readRuleFile(await readFile(new URL(file, FOLDER), 'utf8'))),
  );
}

/** Reads a file, YAML or JSON. Never throws. */
export function readRuleFile(text: string): RuleFileOrFaults {
  let read: unknown;
  try {
    read = parse(text, { maxAliasCount: 0, schema: 'core' });
  } catch (error) {
    return { ok: false, faults: [error instanceof Error ? error.message : String(error)] };
  }
  const { rule_id: ruleId, spec, triggers = [], never = [] } = asRecord(read);
  if (typeof ruleId !== 'string') return { ok: false, faults: ['/rule_id: a name is missing'] };
  if (!SPEC.Check(spec)) {
    const faults = [...SPEC.Errors(spec)]
      .slice(0, 10)
      .map(({ instancePath, message }) => `/spec${instancePath}: ${message}`);
    return { ok: false, faults };
  }
  const compiled = compileRule(ruleId, spec);
  if (!compiled.ok) {
    return {
      ok: false,
      faults: compiled.faults.map((one) => `/spec${one.pointer}: ${one.detail}`),
    };
  }
  return { ok: true, file: { ruleId, spec, triggers: asList(triggers), never: asList(never) } };
}

/** What is wrong with a rule by its own examples; empty when they hold. */
export function faultsOfExamples({ ruleId, spec, triggers, never }: RuleFile): readonly string[] {
  const found = (events: readonly object[]): boolean => {
    const compiled = compileRule(ruleId, spec);
    if (!compiled.ok) return false;
    const run = createRuleRun(compiled.rule);
    return events.map((part, at) => run.take(exampleOf(part, at), NO_LABELS)).some(Boolean);
  };
  return [
    ...(triggers.length > 0 && !found(triggers) ? ['what should trigger it does not'] : []),
    ...(never.length > 0 && found(never) ? ['what must not trigger it does'] : []),
  ];
}

type Parts = Readonly<Partial<Record<'process' | 'parent', Partial<EventProcess>>>>;

function exampleOf(part: object, at: number): StoredEvent {
  const time = new Date(BEGIN_MS + at * STEP_MS).toISOString();
  const given = part as Omit<Partial<StoredEvent>, 'process' | 'parent'> & Parts;
  return {
    ...{ event_id: at.toString(16).padStart(32, '0'), schema_version: 1, observed_at: time },
    ...{ event_kind: 'process_exec', severity: 'info', message: '', received_at: time },
    ...{ sensor_id: 'example', node_name: 'example' },
    ...given,
    process: given.process && { exec_id: `e${at}`, pid: 100 + at, ...given.process },
    parent: given.parent && { exec_id: 'parent', pid: 50, ...given.parent },
  } as StoredEvent;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): readonly object[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}
