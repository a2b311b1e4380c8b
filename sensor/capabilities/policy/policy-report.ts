// What this node tells of its policies, and when: the part of a heartbeat stays away while the Console has it. decision: D78
import { hash } from 'node:crypto';
import { HEARTBEAT_BODY_MAX_BYTES } from '../../../machines/limits.ts';
import { canonicalText } from '../../../machines/policy/canonical.rules.ts';
import { PACK_POLICIES_MAX } from '../../../machines/policy/limits.ts';
import { type PolicySnapshot, packStandingOf } from '../../../machines/sensor/policy.machine.ts';
import type { HeartbeatResponse } from '../../../machines/wire/heartbeat.ts';
import type { EnforcementState, PolicyReport } from '../../../machines/wire/policy.ts';
import type { PolicyFact } from '../../actors/facts.ts';
import { deedsOf } from './policy-facts.ts';

type WireFact = PolicyReport['policies'][number];

/** The whole part. */
export function policyReportOf(
  snapshot: PolicySnapshot,
  facts: readonly PolicyFact[],
  keysSha256: string,
): PolicyReport {
  const { held } = snapshot.context;
  const standing = packStandingOf(snapshot);
  const told = standing.job?.kind === 'pack' ? standing.job.pack : held.pack;
  const fromConsole = facts.filter(({ from }) => from !== undefined);
  const own = standing.state === null ? stateOfPolicies(fromConsole, held.enforcement.mode) : null;
  const { code, reason } = own ?? standing;
  const highest = told === null ? undefined : held.highest[told.pack_id];
  const inForce = held.pack;
  return {
    ...(told === null
      ? {}
      : {
          ...{ assignment_id: told.assignment_id, pack_id: told.pack_id, version: told.version },
          ...{ manifest_sha256: told.manifest_sha256, mode: told.mode },
          namespace_scope: told.namespace_scope,
        }),
    state: own?.state ?? standing.state ?? 'removed',
    ...(code === undefined ? {} : { code: code.slice(0, 64) }),
    ...(reason === undefined || reason === '' ? {} : { reason: wellFormed(reason, 512) }),
    ...(highest === undefined ? {} : { highest_version: highest.version }),
    ...(inForce === null
      ? {}
      : {
          in_force: {
            pack_id: inForce.pack_id,
            version: inForce.version,
            manifest_sha256: inForce.manifest_sha256,
          },
        }),
    enforcement_revision: held.enforcement.revision,
    custom_revision: held.custom.revision,
    signing_keys_sha256: keysSha256,
    policies: fromConsole.slice(0, 2 * PACK_POLICIES_MAX).map(factOf),
  };
}

/** Of the heartbeat, for what a node says of its policies. */
const POLICY_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 32;
/** Of a reason, when all of them are too long. */
const REASON_MAX_CHARS = 32;

/** The part as it is, unless it is too long for its share of a heartbeat: then with short reasons. */
export function policyWithin(report: PolicyReport): PolicyReport {
  if (Buffer.byteLength(JSON.stringify(report)) <= POLICY_MAX_BYTES) return report;
  const policies = report.policies.map((one) =>
    one.reason === undefined ? one : { ...one, reason: wellFormed(one.reason, REASON_MAX_CHARS) },
  );
  return { ...report, policies };
}

const IN_FORCE: readonly string[] = ['enforcing', 'monitoring'];

/** Of a pack that is held: as good as the worst of its policies. */
function stateOfPolicies(
  facts: readonly PolicyFact[],
  mode: 'enforce' | 'monitor' | 'off',
): { readonly state: EnforcementState; readonly code?: string; readonly reason?: string } {
  if (mode === 'off') return { state: 'pending', code: 'switched_off' };
  const ofPack = facts.filter(({ from }) => from === 'pack');
  const bad = ofPack.find(({ state, code }) => isBad(state) && code !== 'engine_cannot');
  const lacking = ofPack.find(({ code }) => code === 'engine_cannot');
  const isAllLacking = ofPack.length > 0 && ofPack.every(({ code }) => code === 'engine_cannot');
  const worst = bad ?? (isAllLacking ? lacking : undefined);
  if (worst !== undefined) {
    const { code, reason, name } = worst;
    return {
      state: 'failed',
      ...(code === undefined ? {} : { code }),
      reason: `${name}: ${reason}`,
    };
  }
  const rest = ofPack.filter(({ code }) => code !== 'engine_cannot');
  if (rest.some(({ state }) => !IN_FORCE.includes(stateWord(state)))) return { state: 'applying' };
  return { state: rest.some(({ state }) => state === 'enforcing') ? 'enforcing' : 'monitoring' };
}

function isBad(state: string): boolean {
  return state === 'failed' || state === 'rejected';
}

// Tetragon's adapter says two things in one text.
function stateWord(state: string): string {
  return state.split(',')[0] ?? state;
}

function factOf({ name, state, reason, code, sha256, counts }: PolicyFact): WireFact {
  const known = STATES[stateWord(state)] ?? 'applying';
  return {
    name: name.slice(0, 128),
    state: known,
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(reason === '' ? {} : { reason: wellFormed(reason, 512) }),
    ...(code === undefined ? {} : { code: code.slice(0, 64) }),
    ...deedsOf(counts),
  };
}

const STATES: Readonly<Record<string, EnforcementState>> = {
  applying: 'applying',
  enforcing: 'enforcing',
  monitoring: 'monitoring',
  rejected: 'rejected',
  failed: 'failed',
};

// What has no canonical form has no hash, and would travel with every heartbeat.
function wellFormed(text: string, max: number): string {
  return text.slice(0, max).toWellFormed();
}

/** The part while the Console does not have it. */
export function createReportSender(): {
  /** Null: it stays away. */
  due(report: PolicyReport): PolicyReport | null;
  heard(answer: HeartbeatResponse | null): void;
} {
  let stored: string | null = null;
  let last: { readonly text: string; readonly hash: string } | null = null;
  return {
    due(report) {
      const text = canonicalText(report) ?? JSON.stringify(report);
      if (last?.text !== text) last = { text, hash: hash('sha256', text, 'hex') };
      return last.hash === stored ? null : report;
    },
    heard(answer) {
      stored = answer?.stored_sections?.policy ?? null;
    },
  };
}
