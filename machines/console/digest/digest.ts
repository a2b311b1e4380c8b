// What a digest tells: facts alone, of one fleet or group and one stretch of time. A form decides how they look; texts that
// come from nodes are in here as they are. decision: D166
import type { LicensePhase } from '../../trust/license.rules.ts';
import type { LossPlace } from '../../wire/loss.ts';
import type { AlertSeverity } from '../delivery/alert.ts';
import type { LocalDay } from './digest-due.rules.ts';
import type { DigestRunState } from './digest-run.machine.ts';

/** Some of many: what is shown, and how many there are. */
export type Some<Item> = { readonly items: readonly Item[]; readonly total: number };
/** What the event store told, or why it told nothing. */
export type Asked<Facts> = Facts | 'unavailable' | 'too_many';

export type DigestAlert = {
  readonly alertId: string;
  readonly severity: AlertSeverity;
  readonly headline: string;
  readonly nodeName: string;
  readonly count: number;
  readonly state: string;
};
export type DigestProgram = {
  readonly binary: string;
  readonly sensors: number;
  /** One of the nodes that ran it. */
  readonly nodeName: string;
};
export type DigestCoverage = {
  readonly seen: number;
  readonly lost: number;
  /** Places that lost something. */
  readonly losses: Readonly<Partial<Record<LossPlace, number>>>;
  /** Those that lost most. */
  readonly worst: Some<{ readonly nodeName: string; readonly lost: number }>;
};
export type DigestTrouble = {
  readonly sensorId: string;
  readonly nodeName: string;
  readonly why: readonly string[];
};
export type DigestCertificate = {
  readonly sensorId: string;
  readonly nodeName: string;
  readonly notAfterMs: number;
};
export type DigestLicense = {
  readonly phase: LicensePhase;
  readonly validUntilMs: number | null;
  readonly graceUntilMs: number | null;
  readonly nodesMax: number | null;
};

export type Digest = {
  readonly digestId: string;
  readonly name: string;
  /** Null: the whole fleet. */
  readonly group: string | null;
  readonly day: LocalDay;
  readonly timeZone: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly madeAtMs: number;
  readonly isTest: boolean;
  /** Of the Console, without a slash at its end. */
  readonly baseUrl: string;
  /** Days before this one that were not told, or perhaps not. */
  readonly untold: readonly { readonly day: LocalDay; readonly state: DigestRunState }[];
  readonly sensors: {
    readonly total: number;
    readonly healthy: number;
    readonly enrolled: number;
    readonly revoked: number;
    readonly contained: number;
  };
  readonly alerts: {
    readonly opened: Readonly<Record<AlertSeverity, number>>;
    /** False: there are more than were counted. */
    readonly isWhole: boolean;
    readonly top: readonly DigestAlert[];
  };
  readonly programs: Asked<Some<DigestProgram>>;
  readonly coverage: Asked<DigestCoverage>;
  readonly trouble: Some<DigestTrouble>;
  readonly certificates: Some<DigestCertificate>;
  readonly license: DigestLicense;
};
