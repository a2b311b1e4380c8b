// What happened in the world, in the words the checkers read. Every observation also goes into the event log, whose hash
// tells whether two runs were the same; so it holds no identifier that chance outside the seed has made.
import type { Role, Scope } from '../../../machines/trust/roles.rules.ts';
import type { Channel } from '../../../machines/wire/scalars.ts';
import type { SessionStage } from '../../../storage/ports/access/sessions.ts';
import type { ContainmentObservation } from './containment-observation.ts';
import type { CopyObservation } from './copy-observation.ts';
import type { DatabaseObservation } from './database-observation.ts';
import type { Asker } from './edge-exchange.ts';
import type { FactorObservation } from './factor-observation.ts';
import type { PolicyObservation } from './policy-observation.ts';
import type { WebhookObservation } from './webhook-observation.ts';

/** A batch as it is named on the wire. `events` are the keys the engine gave them. */
export type BatchSeen = {
  readonly sensor: string;
  readonly stream: string;
  readonly channel: Channel;
  readonly sequence: number;
  readonly events: readonly string[];
};

/** A rule as its keeper means it: programs that are started, in order where there are several. */
export type KeptRule = {
  readonly id: string;
  readonly detects: 'match' | 'fleet_match' | 'count' | 'sequence' | 'absence';
  readonly binaries: readonly string[];
  readonly threshold: number;
  readonly windowMs: number;
};
/** A search as its keeper means it: starts of one program. */
export type KeptSearch = {
  readonly name: string;
  readonly binary: string;
  readonly threshold: number;
  readonly windowMs: number;
};
export type AlertDeed = 'acknowledge' | 'resolve' | 'reopen';

/** What a process of an engine did, or what was done to it. */
export type EngineStep =
  /** Alone, or beside one that runs. */
  | 'started'
  | 'beside'
  | 'attached'
  | 'took over'
  /** It was told to end: by its input, or by force. */
  | 'asked'
  /** Its build is broken, and it ended by itself. */
  | 'failed'
  | 'ended';

export type Observation =
  /** Processes and hosts. `node` and `console` are host names. */
  | { readonly kind: 'process.started'; readonly host: string; readonly incarnation: number }
  /** It gets no turn, or gets them again. */
  | {
      readonly kind: 'process.paused' | 'process.resumed';
      readonly host: string;
      readonly incarnation: number;
    }
  | {
      readonly kind: 'process.ended';
      readonly host: string;
      readonly incarnation: number;
      readonly how: 'stopped' | 'killed' | 'power_lost' | 'failed';
      readonly reason: string;
    }
  | {
      readonly kind: 'fault';
      readonly fault: string;
      readonly target: string;
      readonly detail: string;
    }
  /**
   * The whole world was suspended for so long while nothing was wrong: every wall clock is ahead by that when it wakes,
   * no monotonic clock is, and connections are as they were.
   */
  | { readonly kind: 'world.slept'; readonly ms: number }
  | { readonly kind: 'healed' }
  /** The engine. An event is durable nowhere yet when it is written. */
  | { readonly kind: 'engine.wrote'; readonly node: string; readonly events: readonly string[] }
  /** So many programs began while no process of the engine watched. */
  | { readonly kind: 'programs.unwatched'; readonly node: string; readonly count: number }
  /** This line tells of so many losses, of whatever kind. */
  | {
      readonly kind: 'engine.counted';
      readonly node: string;
      readonly key: string;
      readonly count: number;
    }
  /** Told of hosts whose engine was replaced by another build. `sensor` is the life of the Sensor that started it. */
  | {
      readonly kind: 'engine.step';
      readonly node: string;
      readonly process: number;
      readonly build: string;
      readonly sensor: number;
      readonly step: EngineStep;
    }
  /** What a Sensor could know of builds that were tried is gone from the disk, or cannot be read. */
  | { readonly kind: 'engine.forgotten'; readonly node: string }
  /** Lines that are no events, and lines in a file that another process had rotated away already. */
  | {
      readonly kind: 'engine.noise';
      readonly node: string;
      readonly lines: number;
      readonly late: number;
    }
  /** The event store forgot inserts that it had confirmed: so many batches, with these events. */
  | {
      readonly kind: 'events.forgotten';
      readonly batches: number;
      readonly events: readonly string[];
    }
  | DatabaseObservation
  | { readonly kind: 'engine.rotated'; readonly node: string; readonly removed: readonly string[] }
  /** The unsynced end of a file was lost with the power, and these events with it. */
  | { readonly kind: 'export.lost'; readonly node: string; readonly events: readonly string[] }
  | CopyObservation
  /** Registry, told at the commit. */
  | {
      readonly kind: 'token.created';
      readonly token: string;
      readonly purpose: 'enroll' | 'reenroll';
      readonly sensor: string | null;
      readonly expiresAtMs: number;
    }
  | { readonly kind: 'token.revoked'; readonly token: string }
  | {
      readonly kind: 'sensor.enrolled';
      readonly sensor: string;
      readonly token: string;
      readonly fingerprint: string;
      readonly repeated: boolean;
      readonly notAfterMs: number;
      readonly nowMs: number;
    }
  | {
      readonly kind: 'certificate.issued';
      readonly sensor: string;
      readonly fingerprint: string;
      readonly notAfterMs: number;
    }
  | {
      readonly kind: 'certificate.activated';
      readonly sensor: string;
      readonly fingerprint: string;
      /** The certificate that is `previous` now, if there is one, and since when. */
      readonly previous: string | null;
      readonly supersededAtMs: number | null;
    }
  | { readonly kind: 'sensor.revoked'; readonly sensor: string; readonly nowMs: number }
  /** The audit trail: rows that were sealed, told at the commit, and sealers that are at it at one time. */
  | {
      readonly kind: 'audit.sealed';
      readonly console: string;
      /** The tenure it was sealed under; null: none was named. */
      readonly epoch: number | null;
      readonly from: number;
      readonly to: number;
    }
  /** A session took, and lost, the lock of the designated Console. */
  | { readonly kind: 'designation.began'; readonly console: string; readonly epoch: number }
  | { readonly kind: 'designation.ended'; readonly console: string }
  | { readonly kind: 'audit.sealers'; readonly consoles: readonly string[] }
  /** People and what lets them in, told at the commit. Names are ids; no secret is ever told. */
  | {
      readonly kind: 'account.changed';
      readonly user: string;
      readonly role: Role;
      readonly isActive: boolean;
    }
  | {
      readonly kind: 'session.begun';
      readonly session: string;
      readonly user: string;
      readonly stage: SessionStage;
      readonly createdAtMs: number;
      readonly expiresAtMs: number;
    }
  | { readonly kind: 'session.ended'; readonly session: string }
  | {
      readonly kind: 'key.made';
      readonly key: string;
      readonly user: string | null;
      readonly scopes: readonly string[];
      readonly expiresAtMs: number | null;
    }
  | { readonly kind: 'key.ended'; readonly key: string }
  /** A person was told that this session goes on as that one. */
  | { readonly kind: 'session.turned'; readonly from: string; readonly to: string }
  /** A person was told that all its sessions have ended that began before the observation of this number, but one. */
  | {
      readonly kind: 'sessions.left';
      readonly user: string;
      readonly kept: string | null;
      readonly before: number;
    }
  /** A person was told that its sessions are over that it received before the observation of this number. */
  | { readonly kind: 'sessions.closed'; readonly person: string; readonly before: number }
  /** A session that a person received at `since` and showed at `asked` was let in. */
  | {
      readonly kind: 'session.let_in';
      readonly person: string;
      readonly since: number;
      readonly asked: number;
    }
  /** A person was let in by its password, and what the session lacks; `asked` is when it asked. */
  | {
      readonly kind: 'login.heard';
      readonly person: string;
      readonly asked: number;
      readonly need: string | null;
    }
  /** Something that has to stand in the audit log: asked for, and told that it was done. */
  | {
      readonly kind: 'act.asked';
      readonly act: number;
      readonly actor: string;
      readonly action: string;
      readonly target: string | null;
    }
  | { readonly kind: 'act.done'; readonly act: number }
  | ContainmentObservation
  | FactorObservation
  | PolicyObservation
  | WebhookObservation
  /** An alert rule as its keeper asked for it, and as it heard that it stands; times are the Console's. */
  | {
      readonly kind: 'rule.asked';
      readonly rule: KeptRule;
      /** The sensor that is muted from then on; null: none is. */
      readonly muted: string | null;
    }
  | {
      readonly kind: 'rule.told';
      readonly rule: string;
      readonly muted: string | null;
      readonly activeMs: number;
    }
  /** What a keeper did to an alert: asked, and done, refused or never answered. */
  | {
      readonly kind: 'alert.asked';
      readonly alert: string;
      readonly act: AlertDeed;
      readonly actor: string;
    }
  | { readonly kind: 'alert.told'; readonly alert: string; readonly act: AlertDeed }
  /** A saved search as its keeper asked for it, and heard that it stands. */
  | { readonly kind: 'search.asked'; readonly search: KeptSearch }
  | {
      readonly kind: 'search.told';
      readonly name: string;
      readonly search: string;
      readonly createdMs: number;
    }
  /** Settings as people see and change them; values as JSON. */
  | {
      readonly kind: 'settings.shown';
      readonly console: string;
      readonly asked: number;
      readonly values: readonly {
        readonly name: string;
        readonly value: string;
        readonly revision: number;
      }[];
    }
  | { readonly kind: 'setting.tried'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'setting.set';
      readonly console: string;
      readonly name: string;
      readonly value: string;
      readonly revision: number;
    }
  /** Licenses as people see and import them; `lasts`: it outlives the run. */
  | {
      readonly kind: 'license.shown';
      readonly console: string;
      readonly asked: number;
      readonly license: string | null;
      readonly phase: string;
    }
  | { readonly kind: 'license.tried'; readonly license: string }
  | { readonly kind: 'license.refused'; readonly license: string }
  | {
      readonly kind: 'license.imported';
      readonly console: string;
      readonly license: string;
      readonly nodes: number;
      readonly graceUntilMs: number;
      readonly lasts: boolean;
    }
  /** A session or key is shown to a Console's operator plane. `ask` names this one request. */
  | {
      readonly kind: 'operator.asked';
      readonly ask: number;
      readonly console: string;
      readonly consoleNowMs: number;
    }
  | {
      readonly kind: 'operator.admitted';
      readonly ask: number;
      readonly console: string;
      readonly credential: string;
      readonly user: string | null;
      readonly role: Role;
      readonly scopes: readonly Scope[];
      readonly stage: SessionStage;
      readonly consoleNowMs: number;
    }
  | {
      readonly kind: 'operator.refused';
      readonly ask: number;
      readonly console: string;
      readonly code: string;
    }
  /** A session or key was shown to the sensor plane, without a certificate. */
  | {
      readonly kind: 'sensor_plane.tried';
      readonly console: string;
      readonly path: string;
      /** Of the refusal; null when it was answered. */
      readonly code: string | null;
    }
  /** Event store, told when rows are durable. */
  | {
      readonly kind: 'events.stored';
      readonly console: string;
      readonly batches: readonly (BatchSeen & { readonly receivedAtMs: number })[];
    }
  /** The Console's edge: what it let in, what it refused, what it confirmed (told when the answer leaves). */
  | {
      readonly kind: 'request.accepted';
      readonly console: string;
      /** Whose request it was, whatever certificate it showed; null: of no node. */
      readonly from: Asker | null;
      /** True time of the request's arrival; it is judged then or later. */
      readonly askedAtMs: number;
      readonly consoleNowMs: number;
      readonly path: string;
      readonly fingerprint: string | null;
    }
  | {
      readonly kind: 'request.refused';
      readonly console: string;
      readonly consoleNowMs: number;
      readonly path: string;
      readonly fingerprint: string | null;
      readonly status: number;
      readonly code: string;
    }
  | {
      readonly kind: 'stream.opened';
      readonly console: string;
      readonly askedAtMs: number;
      readonly fingerprint: string | null;
    }
  | {
      readonly kind: 'stream.closed';
      readonly console: string;
      readonly fingerprint: string | null;
      readonly reason: string;
    }
  | {
      readonly kind: 'batch.acknowledged';
      readonly console: string;
      /** True time of the batch's arrival. */
      readonly askedAtMs: number;
      readonly fingerprint: string | null;
      readonly batch: Omit<BatchSeen, 'sensor'>;
    }
  /** Flows in a heartbeat that the Console took; each is named as its row is. */
  | {
      readonly kind: 'flows.taken';
      readonly console: string;
      readonly fingerprint: string | null;
      readonly flows: readonly { readonly name: string; readonly connections: number }[];
    }
  /** Habits that a Console was told, by the hash of the whole; `answer` is what it said of them. */
  | {
      readonly kind: 'habits.told';
      readonly console: string;
      readonly fingerprint: string | null;
      readonly hash: string;
      readonly isDelta: boolean;
      readonly answer: 'stored' | 'unchanged' | 'need_full';
    }
  /** A heartbeat that the Console took; `beforeMs` is when its request was read, by that Console's clock. */
  | {
      readonly kind: 'heartbeat.taken';
      readonly console: string;
      readonly fingerprint: string | null;
      readonly receivedAtMs: number;
    };

export type ObservationKind = Observation['kind'];
export type ObservationOf<K extends ObservationKind> = Extract<Observation, { kind: K }>;
