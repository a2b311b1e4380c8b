// Every call that the page makes, with the types of the very schemas that judge and describe it on the Console's side. Only
// types are taken from there; a path, a parameter or a field that does not exist fails the type check.
import type { InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { LicenseEnvelope } from '../../../machines/wire/license.ts';
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
  DigestChange,
  DigestOut,
  DigestPreview,
  DigestRunOut,
  DigestTestResult,
  NewDigest,
} from '../../operator-plane/digest/digest-shapes.ts';
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
import type { AccessCalls } from './contract-access.ts';
import type { PolicyCalls } from './contract-policy.ts';
import type { Of, Page, Paged, Span } from './contract-shapes.ts';

export type {
  ApiKey,
  KeyAnswer,
  LoginProvider,
  OwnSession,
  Provider,
  SecondFactor,
  SecurityKey,
  Session,
  SinceLastLogin,
  Standing,
  User,
} from './contract-access.ts';
export type {
  Assignment,
  Drift,
  LibraryPolicy,
  Pack,
  PackDraftAnswer,
  PackVersionView,
  PackWithVersions,
  PolicyCheck,
  Rehearsal,
  Rollout,
  RolloutDetail,
  RolloutMove,
  RolloutSensor,
  SensorPolicy,
  SigningKeys,
} from './contract-policy.ts';
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
export type Digest = DigestOut;
export type DigestRun = DigestRunOut;
export type ExportRun = ExportRunShape;
export type ExportTarget = ExportTargetOut;
export type Delivery = DeliveryShape;
export type Alert = AlertShape;
export type AlertWithNotes = AlertWithNotesShape;
export type AlertRule = AlertRuleShape;
export type AlertRuleWithVersions = AlertRuleWithVersionsShape;
export type Backtest = BacktestShape;
export type IssuedToken = ReturnType<typeof issuedView>;

type OtherCalls = {
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
  'GET /events/histogram': {
    query: Of<typeof HistogramQuery>;
    answer: Of<typeof HistogramShape>;
  };
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
  'GET /digests': { answer: { readonly items: readonly Digest[] } };
  'POST /digests': { body: Of<typeof NewDigest>; answer: Digest };
  'PUT /digests/:id': { body: Of<typeof DigestChange>; answer: Digest };
  'DELETE /digests/:id': { answer: null };
  'GET /digests/:id/runs': {
    query: { readonly limit?: number };
    answer: { readonly items: readonly DigestRun[] };
  };
  'GET /digests/:id/preview': { answer: DigestPreview };
  'POST /digests/:id/test': { answer: DigestTestResult };
  'GET /exports/target': { answer: { readonly target: ExportTarget | null } };
  'PUT /exports/target': { body: ExportTargetIn; answer: ExportTarget };
  'POST /exports/target/test': { answer: ExportTestResult };
  'GET /exports': {
    query: Paged & { readonly state?: 'dead' };
    answer: Page<ExportRun>;
  };
  'GET /exports/:id': { answer: ExportRunWhole };
  'POST /exports/:id/run': { answer: ExportRun };
  'GET /audit': { query: Of<typeof AuditListQuery>; answer: Page<Audit> };
};
type SensorMembers = { add_sensors?: string[]; remove_sensors?: string[] };
type MemberChange = SensorMembers & { add_users?: string[]; remove_users?: string[] };

type Calls = AccessCalls & PolicyCalls & OtherCalls;
/** Method and path below /api/v2, with what goes in and what comes back; one type, so that any call can be looked up. */
export type Api = { readonly [C in keyof Calls]: Calls[C] };

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
