// What a Sensor can do beside its way to the Console is a list of capabilities. Each is opened by one function from a
// context and answers what it contributes; nobody else has to know of it. decision: D59
import type { AnyActorRef } from 'xstate';
import type { HeartbeatResponse } from '../machines/wire/heartbeat.ts';
import type { DownstreamFrame, StatusFrame } from '../machines/wire/stream.ts';
import type { Parts } from './actors/parts.ts';
import type { InventoryGroup } from './capabilities/inventory/inventory-group.ts';
import type { Live } from './cli/live-status.ts';
import type { Row } from './cli/status-table.ts';
import type { SensorConfig } from './config/config.ts';
import type { EngineKind } from './engine/choice.ts';
import type { Identity } from './state-directory/identity.ts';

/** What one heartbeat says of a capability. */
export type Told = {
  /** Members of the body as JSON text, without its braces; bounded, since the body is. */
  readonly text: string;
  /** The Console took it; null: in words that do not fit. */
  heard?(answer: HeartbeatResponse | null): Promise<void> | void;
};
export type TellHeartbeat = () => Promise<Told> | Told;
export type FrameHandlers = {
  readonly [Type in DownstreamFrame['type']]?: (frame: DownstreamFrame & { type: Type }) => void;
};

/** What there is while the Sensor forwards under one identity. */
export type Forwarded = {
  readonly heartbeat?: TellHeartbeat;
  /** Frames of the stream; each is given to every capability that names it. */
  readonly frames?: FrameHandlers;
  readonly clockJumped?: () => void;
  readonly stop?: () => void;
};
export type StopCollecting = () => Promise<void>;

export type Contribution = {
  /** Words that tell the Console what this Sensor can do. */
  readonly announces?: readonly string[];
  /** Before a token is exchanged; what fails here is tried again when events are collected. */
  readonly beforeEnrolling?: () => Promise<void>;
  /** Starts what runs while events are collected, with or without a Console. */
  readonly collect?: () => Promise<StopCollecting> | StopCollecting;
  /** Starts what runs while this identity is forwarded under. Nothing is awaited. */
  readonly forward?: (identity: Identity) => Forwarded;
  /** Sections of the inventory; those of a group travel together. */
  readonly inventory?: readonly InventoryGroup[];
  /** The statecharts that run now; `service-sensor status -o json` shows their states. */
  readonly actors?: () => readonly AnyActorRef[];
  /** Members of `run/status.json`. */
  readonly status?: () => Readonly<Record<string, unknown>>;
  /** Called when nothing is collected or forwarded any more. */
  readonly close?: () => Promise<void> | void;
};
export type Opened<Service> = Contribution & { readonly service: Service };

export type Flags = Readonly<Record<string, string | boolean | string[] | undefined>>;
export type SensorCommand = {
  /** With its arguments: `policies verify <file>`. */
  readonly name: string;
  readonly description: string;
  /** Also takes the options that name a Console and a token. */
  readonly takesTrust?: boolean;
  /** Flags, description and what stands without it. */
  readonly options?: readonly (readonly [string, string, string?])[];
  /** Answers the exit code. Imports what it needs by itself, since the other commands load this file too. */
  run(given: CommandGiven): Promise<number>;
};
export type CommandGiven = {
  readonly flags: Flags;
  readonly words: readonly string[];
  readonly config: SensorConfig;
  readToken(): Promise<string | null>;
};

export type Check = {
  readonly name: string;
  readonly isGood: boolean;
  readonly text: string;
  /** Lines of their own below the text. */
  readonly more?: readonly string[];
};

export type SensorCapability<Service = unknown> = {
  readonly name: string;
  /** Throws why it cannot be opened; the Sensor does not start then. */
  open(context: SensorContext): Promise<Opened<Service>> | Opened<Service>;
  /** What the other commands know of it, beside a running Sensor or without one. */
  readonly commands?: readonly SensorCommand[];
  /** Rows of `status`, from what a running Sensor left. */
  readonly statusRows?: (live: Live | null) => readonly Row[];
  readonly checks?: (given: {
    readonly config: SensorConfig;
    readonly engine: EngineKind;
  }) => Promise<readonly Check[]>;
};

/** What a capability is given. */
export type SensorContext = Parts & {
  readonly exportFile: string;
  /** Programs whose habits are known at once; absent: the limit. */
  readonly binariesMax?: number;
  /** Empty before there is an identity. */
  sensorId(): string;
  /** Something changed that the Console should know soon. */
  report(): void;
  /** Tells the Console at once; false when no stream is open. */
  sendStatus(status: StatusFrame['status']): boolean;
  /** Events are in the spool. */
  spooled(): void;
  /** The Console revoked this Sensor. */
  revoked(): void;
  /** A renewal put this identity in the place of the one that is forwarded under. */
  presents(identity: Identity): void;
  /** The service of a capability that stands earlier in the list. */
  use<Service>(capability: Pick<SensorCapability<Service>, 'name' | 'open'>): Service;
  /** What every capability contributes that is open by now. */
  contributions(): readonly Contribution[];
};
