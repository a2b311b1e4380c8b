// Every call that the page makes, with the types of the very schemas that judge and describe it on the Console's side. Only
// types are taken from there; a path, a parameter or a field that does not exist fails the type check.
import type { Static, TSchema } from 'typebox';
import type { InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { LicenseEnvelope } from '../../../machines/wire/license.ts';
import type { EnforcementMode, SignedPack } from '../../../machines/wire/policy.ts';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import type { ApiKeyView, IssuedKeyView, NewKey } from '../../operator-plane/access/api-keys.ts';
import type { LoggedIn } from '../../operator-plane/access/auth.ts';
import type { Factor } from '../../operator-plane/access/auth-mfa.ts';
import type {
  KeyAnswer as KeyAnswerShape,
  SecurityKeyList,
  SecurityKey as SecurityKeyShape,
} from '../../operator-plane/access/auth-security-keys.ts';
import type { Offered } from '../../operator-plane/access/auth-sso.ts';
import type {
  Check,
  NewProvider,
  Change as ProviderChange,
  Provider as ProviderShape,
} from '../../operator-plane/access/sso.ts';
import type {
  Session as SessionShape,
  User as UserShape,
} from '../../operator-plane/access/user-view.ts';
import type { NewUser, UserChange } from '../../operator-plane/access/users.ts';
import type { AuditListQuery } from '../../operator-plane/audit/audit-query.ts';
import type { AuditItem } from '../../operator-plane/audit/audit-view.ts';
import type { SensorContainment } from '../../operator-plane/containment/containment.ts';
import type {
  Delivery as DeliveryShape,
  DeliveryWithAttempts,
  MadeWebhook,
  TestResult,
  Webhook as WebhookShape,
} from '../../operator-plane/delivery/webhook-shapes.ts';
import type { NewWebhook } from '../../operator-plane/delivery/webhooks.ts';
import type {
  BacktestAsked,
  NewRule,
  RuleChange,
} from '../../operator-plane/detection/alert-rules.ts';
import type {
  Alert as AlertShape,
  AlertWithNotes as AlertWithNotesShape,
  Bulk,
  BulkResult,
} from '../../operator-plane/detection/alert-shapes.ts';
import type { AlertListQuery } from '../../operator-plane/detection/alerts.ts';
import type {
  AlertRule as AlertRuleShape,
  AlertRuleWithVersions as AlertRuleWithVersionsShape,
  Backtest as BacktestShape,
} from '../../operator-plane/detection/rule-shapes.ts';
import type {
  ExportRun as ExportRunShape,
  ExportRunWhole,
  ExportTargetIn,
  ExportTargetOut,
  ExportTestResult,
} from '../../operator-plane/exports/export-shapes.ts';
import type { BulkAnswer } from '../../operator-plane/fleet/bulk.ts';
import type { LabelDetail, LabelView } from '../../operator-plane/fleet/labels.ts';
import type { BulkChange, SensorChange } from '../../operator-plane/fleet/sensor-changes.ts';
import type {
  SensorActor as ActorShape,
  NodeMachinesAnswer,
  StoredMove,
} from '../../operator-plane/fleet/sensor-history.ts';
import type { SensorTally as TallyShape } from '../../operator-plane/fleet/sensor-tally.ts';
import type { SensorDetail, SensorSummary } from '../../operator-plane/fleet/sensor-view.ts';
import type { ListQuery } from '../../operator-plane/fleet/sensors.ts';
import type { ExerciseView, NewExercise } from '../../operator-plane/hunting/exercise-shapes.ts';
import type {
  InvestigationView,
  NewInvestigation,
  NewItem,
  TimelineItem,
} from '../../operator-plane/hunting/investigation-shapes.ts';
import type { NewSearch, SavedSearchView } from '../../operator-plane/hunting/search-shapes.ts';
import type { Explanation, NewMark, UsualMarkView } from '../../operator-plane/hunting/usual.ts';
import type { licenseAnswer } from '../../operator-plane/license/license.ts';
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
import type { SettingsAnswer, SettingsChange } from '../../operator-plane/settings/settings.ts';
import type {
  NewSiem,
  SiemDestination as SiemShape,
  SiemTestResult,
} from '../../operator-plane/siem/siem-shapes.ts';
import type { AnalyticsHealthAnswer } from '../../operator-plane/system/analytics.ts';
import type { machineView } from '../../operator-plane/system/machine-view.ts';
import type { ActorsAnswer } from '../../operator-plane/system/system.ts';
import type { FleetCoverage, SensorCoverage } from '../../operator-plane/telemetry/coverage.ts';
import type {
  ProcessQuery,
  ProcessTreeView,
} from '../../operator-plane/telemetry/event-processes.ts';
import type { EventsQuery } from '../../operator-plane/telemetry/event-query.ts';
import type {
  RateQuery,
  EventRate as RateShape,
} from '../../operator-plane/telemetry/event-rate.ts';
import type {
  HistogramQuery,
  Histogram as HistogramShape,
  TopQuery,
  Top as TopShape,
} from '../../operator-plane/telemetry/event-statistics.ts';
import type { EventItem as EventShape } from '../../operator-plane/telemetry/events.ts';
import type {
  Flow,
  InventorySection,
  Resources,
} from '../../operator-plane/telemetry/sensor-telemetry.ts';
import type {
  issuedView,
  NewToken,
  tokenView,
} from '../../operator-plane/trust/enrollment-tokens.ts';

import type { BulkRevoke } from '../../operator-plane/trust/sensor-trust.ts';

type Of<S extends TSchema> = Static<S>;
type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };
type Paged = { readonly limit?: number; readonly cursor?: string };
type PolicyTexts = { name: string; yaml: string }[];
type Span = { readonly from?: string; readonly to?: string };

export type {
  FleetCoverage,
  Flow,
  LabelDetail,
  LabelView,
  Resources,
  SensorContainment,
  SensorDetail,
  SensorSummary,
};
export type ApiKey = ApiKeyView;
export type Audit = AuditItem;
export type EventItem = Of<typeof EventShape>;
export type SensorTally = Of<typeof TallyShape>;
export type EventRate = Of<typeof RateShape>;
export type SensorActor = Of<typeof ActorShape>;
export type SensorMove = Of<typeof StoredMove>;
export type Actors = Of<typeof ActorsAnswer>;
export type Machine = ReturnType<typeof machineView>;
export type License = ReturnType<typeof licenseAnswer>;
export type Settings = Of<typeof SettingsAnswer>;
export type SavedSearch = SavedSearchView;
export type Investigation = InvestigationView;
export type TimelineEntry = TimelineItem;
export type Exercise = ExerciseView;
export type ProcessTree = ProcessTreeView;
export type Setting = Settings['items'][number];
export type SiemDestination = SiemShape;
export type Webhook = WebhookShape;
export type ExportRun = ExportRunShape;
export type ExportTarget = ExportTargetOut;
export type Delivery = DeliveryShape;
export type Alert = AlertShape;
export type AlertWithNotes = AlertWithNotesShape;
export type AlertRule = AlertRuleShape;
export type AlertRuleWithVersions = AlertRuleWithVersionsShape;
export type Backtest = BacktestShape;
export type Provider = Of<typeof ProviderShape>;
export type KeyAnswer = Of<typeof KeyAnswerShape>;
export type SecurityKey = Of<typeof SecurityKeyShape>;
export type SecondFactor = Of<typeof Factor>;
export type LoginProvider = Of<typeof Offered>['items'][number];
export type User = Of<typeof UserShape>;
export type Session = Of<typeof SessionShape>;
export type Standing = Of<typeof LoggedIn>;
export type OwnSession = Omit<Standing, 'since_last_login'> & {
  readonly scopes: readonly string[];
};
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
export type IssuedToken = ReturnType<typeof issuedView>;

/** Method and path below /api/v2, with what goes in and what comes back. */
export type Api = {
  'GET /auth/session': { answer: OwnSession };
  'POST /auth/login': { body: { email: string; password: string }; answer: Standing };
  'POST /auth/logout': { answer: { ended: number } };
  'POST /auth/reset': { body: { secret: string; password: string }; answer: { email: string } };
  'POST /auth/password': {
    body: { current_password: string; new_password: string };
    answer: Pick<Standing, 'session_id' | 'expires_at' | 'stage' | 'needs'>;
  };
  'POST /auth/reauthenticate': {
    body: { password?: string; code?: string; security_key?: KeyAnswer };
    answer: object;
  };
  'GET /auth/mfa/keys': { answer: Of<typeof SecurityKeyList> };
  'POST /auth/mfa/keys/begin': { answer: { options: unknown } };
  'POST /auth/mfa/keys/ask': { answer: { options: unknown } };
  'POST /auth/mfa/keys': {
    body: { name: string; security_key: unknown };
    answer: Of<typeof SecurityKeyList>;
  };
  'DELETE /auth/mfa/keys/:id': { answer: null };
  'GET /auth/sessions': { answer: { readonly items: readonly Session[] } };
  'DELETE /auth/sessions/:id': { answer: { ended: number } };
  'POST /auth/sessions/end-others': { answer: { ended: number } };
  'GET /auth/mfa': { answer: SecondFactor };
  'POST /auth/mfa/enroll': {
    body: { password?: string };
    answer: { secret: string; otpauth_uri: string; qr_svg: string };
  };
  'POST /auth/mfa/confirm': { body: { code: string }; answer: { recovery_codes: string[] } };
  'POST /auth/mfa/verify': {
    body: { code: string } | { security_key: KeyAnswer };
    answer: { method: 'totp' | 'recovery' | 'security_key'; recovery_codes_left: number };
  };
  'POST /auth/mfa/recovery-codes': { body: { code: string }; answer: { recovery_codes: string[] } };
  'POST /auth/mfa/disable': { body: { code: string; password?: string }; answer: object };
  'GET /auth/sso/providers': { answer: Of<typeof Offered> };
  'GET /sensors': { query: Of<typeof ListQuery>; answer: Page<SensorSummary> };
  'GET /sensors/tally': { answer: SensorTally };
  'GET /sensors/:id': { answer: SensorDetail };
  'PATCH /sensors/:id': { body: Of<typeof SensorChange>; answer: SensorDetail };
  'POST /sensors/bulk-change': { body: Of<typeof BulkChange>; answer: Of<typeof BulkAnswer> };
  'POST /sensors/bulk-revoke': { body: Of<typeof BulkRevoke>; answer: Of<typeof BulkAnswer> };
  'POST /sensors/:id/revoke': { body: { reason: string }; answer: SensorDetail };
  'GET /sensors/:id/containment': { answer: SensorContainment };
  'POST /sensors/:id/contain': {
    body: { reason: string; until?: string };
    answer: SensorContainment;
  };
  'POST /sensors/:id/release': { body: { reason: string }; answer: SensorContainment };
  'POST /sensors/:id/reenroll': { body: Record<string, never>; answer: IssuedToken };
  'GET /sensors/:id/actor': { query: { readonly at?: string }; answer: SensorActor };
  'GET /sensors/:id/machines': { answer: Of<typeof NodeMachinesAnswer> };
  'GET /sensors/:id/transitions': {
    query: Paged & Span & { readonly kind?: string };
    answer: Page<SensorMove>;
  };
  'GET /sensors/:id/resources': {
    query: Span & { limit?: number };
    answer: { items: Resources[] };
  };
  'GET /sensors/:id/flows': { query: Span & { limit?: number }; answer: { items: Flow[] } };
  'GET /sensors/:id/inventory/:section': { query: Paged; answer: InventorySection };
  'GET /sensors/:id/coverage': { query: Span; answer: SensorCoverage };
  'GET /coverage': { query: Span & Paged; answer: Page<FleetCoverage> };
  'GET /events': { query: Of<typeof EventsQuery>; answer: Page<EventItem> };
  'GET /events/histogram': { query: Of<typeof HistogramQuery>; answer: Of<typeof HistogramShape> };
  'GET /events/top': { query: Of<typeof TopQuery>; answer: Of<typeof TopShape> };
  'GET /events/tree': { query: Of<typeof ProcessQuery>; answer: ProcessTreeView };
  'GET /events/explanation': {
    query: { event_id: string; sensor_id: string; observed_at: string };
    answer: Explanation;
  };
  'POST /usual-marks': { body: NewMark; answer: UsualMarkView };
  'GET /saved-searches': { answer: { readonly items: readonly SavedSearchView[] } };
  'POST /saved-searches': { body: NewSearch; answer: SavedSearchView };
  'POST /saved-searches/:id/pause': { answer: SavedSearchView };
  'POST /saved-searches/:id/resume': { answer: SavedSearchView };
  'DELETE /saved-searches/:id': { answer: null };
  'GET /investigations': { query: Paged; answer: Page<InvestigationView> };
  'POST /investigations': { body: Of<typeof NewInvestigation>; answer: InvestigationView };
  'GET /investigations/:id': { answer: InvestigationView };
  'GET /investigations/:id/timeline': { query: Paged; answer: Page<TimelineItem> };
  'GET /investigations/:id/archive': { answer: never };
  'POST /investigations/:id/take': { body: { text?: string }; answer: InvestigationView };
  'POST /investigations/:id/reopen': { body: { text?: string }; answer: InvestigationView };
  'POST /investigations/:id/hand-over': {
    body: { to: string; text?: string };
    answer: InvestigationView;
  };
  'POST /investigations/:id/close': {
    body: {
      outcome: 'true_positive' | 'false_positive' | 'benign' | 'inconclusive';
      text?: string;
    };
    answer: InvestigationView;
  };
  'POST /investigations/:id/items': { body: NewItem; answer: { readonly added: number } };
  'DELETE /investigations/:id/items/:item_id': { answer: null };
  'GET /exercises': { query: Paged; answer: Page<ExerciseView> };
  'POST /exercises': { body: NewExercise; answer: ExerciseView };
  'POST /exercises/:id/start': { answer: ExerciseView };
  'POST /exercises/:id/end': { answer: ExerciseView };
  'POST /exercises/:id/abandon': { answer: ExerciseView };
  'GET /events/rate': { query: Of<typeof RateQuery>; answer: EventRate };
  'GET /system/actors': { query: Paged & { kind?: string }; answer: Actors };
  'GET /system/machines': { answer: { readonly items: readonly Machine[] } };
  'GET /enrollment-tokens': { query: Paged; answer: Page<ReturnType<typeof tokenView>> };
  'POST /enrollment-tokens': { body: Of<typeof NewToken>; answer: IssuedToken };
  'DELETE /enrollment-tokens/:id': { answer: ReturnType<typeof tokenView> };
  'GET /api-keys': { query: Paged; answer: Page<ApiKey> };
  'POST /api-keys': { body: Of<typeof NewKey>; answer: IssuedKeyView };
  'DELETE /api-keys/:id': { answer: ApiKey };
  'GET /all-api-keys': { query: Paged; answer: Page<ApiKey> };
  'DELETE /all-api-keys/:id': { answer: ApiKey };
  'GET /users': { query: Paged; answer: Page<User> };
  'POST /users': { body: Of<typeof NewUser>; answer: User };
  'PATCH /users/:id': { body: Of<typeof UserChange>; answer: User };
  'DELETE /users/:id': { answer: { user_id: string } };
  'POST /users/:id/reset-link': { answer: { secret: string; expires_at: string } };
  'DELETE /users/:id/sessions': { answer: { ended: number } };
  'DELETE /users/:id/mfa': { answer: null };
  'GET /teams': { query: Paged; answer: Page<LabelView> };
  'GET /groups': { query: Paged; answer: Page<LabelView> };
  'GET /teams/:id': { answer: LabelDetail };
  'GET /groups/:id': { answer: LabelDetail };
  'POST /teams': { body: { name: string; description?: string }; answer: LabelDetail };
  'POST /groups': { body: { name: string; description?: string }; answer: LabelDetail };
  'DELETE /teams/:id': { answer: null };
  'DELETE /groups/:id': { answer: null };
  'POST /teams/:id/members': { body: MemberChange; answer: LabelDetail };
  'POST /groups/:id/members': { body: SensorMembers; answer: LabelDetail };
  'GET /settings': { answer: Settings };
  'PATCH /settings': { body: Of<typeof SettingsChange>; answer: Settings };
  'GET /license': { answer: License };
  'POST /license': { body: LicenseEnvelope; answer: License };
  'GET /webhooks': { answer: { readonly items: readonly Webhook[] } };
  'POST /webhooks': { body: Of<typeof NewWebhook>; answer: MadeWebhook };
  'DELETE /webhooks/:id': { answer: null };
  'POST /webhooks/:id/rotate-secret': {
    body: { readonly overlap_hours?: number };
    answer: MadeWebhook;
  };
  'POST /webhooks/:id/pause': { answer: Webhook };
  'POST /webhooks/:id/resume': { answer: Webhook };
  'POST /webhooks/:id/test': { answer: TestResult };
  'POST /webhooks/:id/replay-dead': { answer: { readonly replayed: number } };
  'GET /alerts': { query: Of<typeof AlertListQuery>; answer: Page<Alert> };
  'POST /alerts/bulk': { body: Of<typeof Bulk>; answer: Of<typeof BulkResult> };
  'GET /alerts/:id': { answer: AlertWithNotes };
  'GET /alerts/:id/events': { query: Paged; answer: Page<EventItem> };
  'POST /alerts/:id/acknowledge': { answer: Alert };
  'POST /alerts/:id/resolve': {
    body: { readonly resolution: 'fixed' | 'expected' | 'false_positive' | 'passed' };
    answer: Alert;
  };
  'POST /alerts/:id/reopen': { answer: Alert };
  'POST /alerts/:id/assign': { body: { readonly assignee: string | null }; answer: Alert };
  'POST /alerts/:id/comments': { body: { readonly text: string }; answer: Alert };
  'GET /alert-rules': { answer: { readonly items: readonly AlertRule[] } };
  'GET /alert-rules/:id': { answer: AlertRuleWithVersions };
  'POST /alert-rules': { body: Of<typeof NewRule>; answer: AlertRule };
  'PUT /alert-rules/:id': { body: Of<typeof RuleChange>; answer: AlertRule };
  'DELETE /alert-rules/:id': { answer: null };
  'POST /alert-rules/backtest': { body: Of<typeof BacktestAsked>; answer: Backtest };
  'GET /system/analytics': { answer: AnalyticsHealthAnswer };
  'GET /siem-destinations': { answer: { readonly items: readonly SiemDestination[] } };
  'POST /siem-destinations': { body: Of<typeof NewSiem>; answer: SiemDestination };
  'DELETE /siem-destinations/:id': { answer: null };
  'POST /siem-destinations/:id/pause': { answer: SiemDestination };
  'POST /siem-destinations/:id/resume': {
    body: { readonly start_at?: string };
    answer: SiemDestination;
  };
  'POST /siem-destinations/:id/test': { answer: SiemTestResult };
  'GET /deliveries': {
    query: Paged & { readonly webhook_id?: string; readonly state?: Delivery['state'] };
    answer: Page<Delivery>;
  };
  'GET /deliveries/:id': { answer: DeliveryWithAttempts };
  'POST /deliveries/:id/replay': { answer: Delivery };
  'GET /exports/target': { answer: { readonly target: ExportTarget | null } };
  'PUT /exports/target': { body: ExportTargetIn; answer: ExportTarget };
  'POST /exports/target/test': { answer: ExportTestResult };
  'GET /exports': {
    query: Paged & { readonly state?: 'dead' };
    answer: Page<ExportRun>;
  };
  'GET /exports/:id': { answer: ExportRunWhole };
  'POST /exports/:id/run': { answer: ExportRun };
  'GET /sso-providers': { answer: { readonly items: readonly Provider[] } };
  'POST /sso-providers': { body: Of<typeof NewProvider>; answer: Provider };
  'PATCH /sso-providers/:id': { body: Of<typeof ProviderChange>; answer: Provider };
  'DELETE /sso-providers/:id': { answer: null };
  'POST /sso-providers/:id/test': { answer: Of<typeof Check> };
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
  'GET /audit': { query: Of<typeof AuditListQuery>; answer: Page<Audit> };
};
type SensorMembers = { add_sensors?: string[]; remove_sensors?: string[] };
type MemberChange = SensorMembers & { add_users?: string[]; remove_users?: string[] };

export type Operation = keyof Api;
export type AnswerOf<O extends Operation> = Api[O]['answer'];
export type QueryOf<O extends Operation> = Api[O] extends { query: infer Q } ? Q : never;
export type BodyOf<O extends Operation> = Api[O] extends { body: infer B } ? B : never;
type NamesIn<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;
export type ParamsOf<O extends Operation> = {
  readonly [Name in NamesIn<O>]: Name extends 'section' ? InventorySectionName : string;
};
