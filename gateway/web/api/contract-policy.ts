// The calls about policies: packs, what is assigned to whom, how it is rolled out, and the keys that sign.
import type { EnforcementMode, SignedPack } from '../../../machines/wire/policy.ts';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import type {
  AssignmentBody,
  AssignmentView,
  SensorPolicyView,
} from '../../operator-plane/policy/assignments.ts';
import type { DriftView, LibraryView } from '../../operator-plane/policy/drift.ts';
import type {
  CheckView,
  Draft as DraftShape,
  PackView,
  VersionView,
} from '../../operator-plane/policy/pack-view.ts';
import type { RehearsalView } from '../../operator-plane/policy/rehearsal.ts';
import type {
  RolloutDetail as RolloutDetailShape,
  RolloutTransitionView,
  RolloutView,
  StartBody,
} from '../../operator-plane/policy/rollout-view.ts';
import type { RolloutSensorView } from '../../operator-plane/policy/rollouts.ts';
import type { SigningKeysView } from '../../operator-plane/policy/signing-keys.ts';
import type { Of, Page, Paged, Span } from './contract-shapes.ts';

export type Pack = PackView;
export type PackVersionView = VersionView;
export type PackWithVersions = PackView & { readonly versions: readonly VersionView[] };
export type PackDraftAnswer = { readonly revision: number; readonly draft: Of<typeof DraftShape> };
export type PolicyCheck = CheckView;
export type LibraryPolicy = LibraryView;
export type Assignment = AssignmentView;
export type Rehearsal = RehearsalView;
export type Rollout = RolloutView;
export type RolloutDetail = RolloutDetailShape;
export type RolloutMove = RolloutTransitionView;
export type RolloutSensor = RolloutSensorView;
export type Drift = DriftView;
export type SigningKeys = SigningKeysView;
export type SensorPolicy = SensorPolicyView;
type PolicyTexts = { name: string; yaml: string }[];

/** A part of `Api`. */
export type PolicyCalls = {
  'GET /packs': { query: Paged; answer: Page<Pack> };
  'POST /packs': { body: { name: string; flavor?: Flavor }; answer: Pack };
  'GET /packs/:id': { answer: PackWithVersions };
  'GET /packs/:id/draft': { answer: PackDraftAnswer };
  'PUT /packs/:id/draft': {
    body: { revision: number; draft: PackDraftAnswer['draft'] };
    answer: Pack;
  };
  'POST /packs/check': { body: { policies: PolicyTexts }; answer: { items: PolicyCheck[] } };
  'POST /packs/:id/publish': { body: { dry_run?: boolean }; answer: PackVersionView };
  'GET /packs/:id/versions/:version': { answer: SignedPack };
  'GET /policies/library': { answer: { readonly items: readonly LibraryPolicy[] } };
  'GET /policies/drift': { query: Paged; answer: Page<Drift> };
  'GET /assignments': { query: Paged; answer: Page<Assignment> };
  'POST /assignments': { body: Of<typeof AssignmentBody>; answer: Assignment };
  'DELETE /assignments/:kind/:target': { answer: null };
  'GET /assignments/:kind/:target/rehearsal': { query: Span; answer: Rehearsal };
  'POST /assignments/:kind/:target/enforce': {
    body: { assignment_id: string; dry_run?: boolean };
    answer: Rehearsal;
  };
  'GET /rollouts': { query: Paged; answer: Page<Rollout> };
  'POST /rollouts': { body: StartBody; answer: Rollout };
  'GET /rollouts/:id': { answer: RolloutDetail };
  'GET /rollouts/:id/sensors': { query: Paged; answer: Page<RolloutSensor> };
  'GET /rollouts/:id/transitions': { query: Paged; answer: Page<RolloutMove> };
  'POST /rollouts/:id/pause': { answer: Rollout };
  'POST /rollouts/:id/resume': { answer: Rollout };
  'POST /rollouts/:id/abort': { answer: Rollout };
  'GET /signing-keys': { answer: SigningKeys };
  'POST /signing-keys': {
    body: { public_key_pem: string; retired_key_ids?: string[] };
    answer: SigningKeys;
  };
  'GET /sensors/:id/policy': { answer: SensorPolicy };
  'PUT /sensors/:id/policy/enforcement': { body: { mode: EnforcementMode }; answer: SensorPolicy };
};
