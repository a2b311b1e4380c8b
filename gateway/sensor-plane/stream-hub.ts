// Who streams: at most one live stream per sensor. A newcomer with the same instance replaces the old one at once;
// another instance waits until the old stream was asked: when it still answers, two nodes use one identity and the
// newcomer is refused, else the newcomer takes over. invariant: I3, I10
import type { Logger } from '../../actors/runtime/logger.ts';
import type { ErrorCode } from '../../machines/errors.ts';
import { STREAM_SOCKETS_PER_SENSOR_MAX } from '../../machines/limits.ts';
import type { DownstreamFrame } from '../../machines/wire/stream.ts';
import type { StreamDeps } from './deps.ts';

export const CLOSE_NORMAL = 1000;
export const CLOSE_REFUSED = 1008;
export const CLOSE_RESTART = 1012;
export const CLOSE_TRY_LATER = 1013;

/** Why a stream ends: a refusal of the catalogue or one of the ordinary reasons. */
export type CloseReason =
  | ErrorCode
  | 'replaced'
  | 'goodbye'
  | 'pong_missed'
  | 'too_many_streams'
  | 'peer_gone';

/** One socket as the hub sees it. */
export type StreamPeer = {
  readonly sensorId: string;
  readonly fingerprint: string;
  /** Where the socket comes from; for the audit trail. */
  readonly address: string;
  /** Null until its hello. */
  instanceId(): string | null;
  /** Sends a frame; false when the socket is closed or cannot take it. */
  send(frame: DownstreamFrame): boolean;
  /** Ends the socket; the first reason counts. */
  end(closeCode: number, reason: CloseReason): void;
  /** Called when it is the sensor's one live stream. */
  welcome(): void;
  ping(): void;
};

export type ConflictListener = (sensorId: string, from: string, atMs: number) => void;

export type StreamHub = {
  send(sensorId: string, frame: DownstreamFrame): boolean;
  /** Ends every socket of a sensor. */
  close(sensorId: string, code: ErrorCode): void;
  isOpen(sensorId: string): boolean;
  /** Live streams. */
  count(): number;
  /** Told of every newcomer that is refused because another node uses its identity. Listeners may not throw. */
  onConflict(listener: ConflictListener): () => void;
  /** Ends every stream; newcomers are refused from then on. */
  shutDown(): void;
  dispose(): void;
};

/** What sockets tell the hub. */
export type StreamService = {
  /** A socket opened; it is not the live stream yet. */
  enter(peer: StreamPeer): void;
  /** Its hello arrived. */
  introduce(peer: StreamPeer): void;
  /** It answered a ping. */
  answered(peer: StreamPeer, instanceId: string | null): void;
  leave(peer: StreamPeer, reason: CloseReason): void;
  isShutDown(): boolean;
};

type Challenge = { readonly peer: StreamPeer; readonly timer: number };
type Place = {
  live: StreamPeer | null;
  challenge: Challenge | null;
  readonly peers: Set<StreamPeer>;
};

type HubDeps = Pick<StreamDeps, 'cache' | 'sensors' | 'clock' | 'intervals' | 'now' | 'audit'> & {
  readonly logger: Logger;
};

/** Makes the hub; it follows the identities and ends the streams of those that lose theirs. */
export function createStreamHub(deps: HubDeps): StreamHub & StreamService {
  const places = new Map<string, Place>();
  const listeners = new Set<ConflictListener>();
  let live = 0;
  let isDown = false;
  const stopFollowing = deps.cache.subscribe(recheck);
  // A sensor that enrolled at another Console may open its stream here before it has an actor here, and an actor that
  // failed is built again from facts that know no streams.
  const stopTelling = deps.sensors.onStart((sensorId) => {
    if ((places.get(sensorId)?.live ?? null) !== null) tellOpened(sensorId);
  });

  function tellOpened(sensorId: string): void {
    deps.sensors.tell(sensorId, { type: 'stream.opened', atMs: deps.now() });
  }

  function recheck(sensorId: string): void {
    for (const peer of [...(places.get(sensorId)?.peers ?? [])]) {
      const verdict = deps.cache.judge(peer.fingerprint, deps.now());
      if (!verdict.ok) endFor(peer, verdict.code);
    }
  }

  function seat(place: Place, peer: StreamPeer): void {
    const before = place.live;
    if (place.challenge?.peer === peer) dropChallenge(place);
    place.live = peer;
    if (before === null) live += 1;
    tellOpened(peer.sensorId);
    peer.welcome();
    before?.end(CLOSE_NORMAL, 'replaced');
  }

  function dropChallenge(place: Place): void {
    if (place.challenge !== null) deps.clock.clearTimeout(place.challenge.timer);
    place.challenge = null;
  }

  function challenge(place: Place, peer: StreamPeer, holder: StreamPeer): void {
    const waiting = place.challenge?.peer;
    dropChallenge(place);
    waiting?.end(CLOSE_NORMAL, 'replaced');
    const timer = deps.clock.setTimeout(() => {
      // The old stream said nothing: it is gone, whatever TCP believes.
      if (place.challenge?.peer === peer) seat(place, peer);
    }, deps.intervals.STREAM_IDENTITY_CHECK_MS);
    place.challenge = { peer, timer };
    holder.ping();
  }

  function refuseClone(place: Place, peer: StreamPeer): void {
    const { sensorId } = peer;
    dropChallenge(place);
    deps.logger.warn({ sensorId }, 'two nodes use one identity');
    peer.end(CLOSE_REFUSED, 'identity_conflict');
    for (const listener of listeners) listener(sensorId, peer.address, deps.now());
    auditConflict(deps, peer);
  }

  return {
    send: (sensorId, frame) => places.get(sensorId)?.live?.send(frame) ?? false,
    close(sensorId, code) {
      for (const peer of [...(places.get(sensorId)?.peers ?? [])]) endFor(peer, code);
    },
    isOpen: (sensorId) => (places.get(sensorId)?.live ?? null) !== null,
    count: () => live,
    onConflict(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    shutDown() {
      isDown = true;
      for (const place of [...places.values()]) {
        for (const peer of [...place.peers]) peer.end(CLOSE_RESTART, 'shutting_down');
      }
    },
    dispose() {
      stopFollowing();
      stopTelling();
    },
    isShutDown: () => isDown,

    enter(peer) {
      const place = places.get(peer.sensorId) ?? { live: null, challenge: null, peers: new Set() };
      places.set(peer.sensorId, place);
      place.peers.add(peer);
      if (place.peers.size <= STREAM_SOCKETS_PER_SENSOR_MAX) return;
      const spare = [...place.peers].find((one) => one !== place.live && one !== peer);
      (spare ?? peer).end(CLOSE_TRY_LATER, 'too_many_streams');
    },
    introduce(peer) {
      const place = places.get(peer.sensorId);
      if (place === undefined) throw new Error('a stream introduced itself before it entered');
      const holder = place.live;
      if (holder === null || holder.instanceId() === peer.instanceId()) seat(place, peer);
      else challenge(place, peer, holder);
    },
    answered(peer, instanceId) {
      const place = places.get(peer.sensorId);
      if (place?.live !== peer || place.challenge === null) return;
      const challenger = place.challenge.peer;
      const own = instanceId ?? peer.instanceId();
      if (own === challenger.instanceId()) seat(place, challenger);
      else refuseClone(place, challenger);
    },
    leave(peer, reason) {
      const place = places.get(peer.sensorId);
      if (place === undefined || !place.peers.delete(peer)) return;
      if (place.peers.size === 0) places.delete(peer.sensorId);
      if (place.challenge?.peer === peer) dropChallenge(place);
      if (place.live !== peer) return;
      place.live = null;
      live -= 1;
      deps.sensors.tell(peer.sensorId, { type: 'stream.closed', atMs: deps.now(), reason });
      if (place.challenge !== null) seat(place, place.challenge.peer);
    },
  };
}

/** Ends a stream for a refusal; a revoked sensor is told in a frame of its own first. */
export function endFor(peer: StreamPeer, code: ErrorCode): void {
  if (code === 'sensor_revoked') peer.send({ type: 'revoked' });
  const isPassing = code === 'trust_unavailable' || code === 'store_unavailable';
  peer.end(isPassing ? CLOSE_TRY_LATER : CLOSE_REFUSED, code);
}

function auditConflict(
  { audit, logger, now }: Pick<HubDeps, 'audit' | 'logger' | 'now'>,
  { sensorId, address }: Pick<StreamPeer, 'sensorId' | 'address'>,
): void {
  const what = { action: 'sensor.stream', target: sensorId, result: 'identity_conflict' } as const;
  const entry = { atMs: now(), actor: `sensor:${sensorId}`, ...what, from: address, detail: {} };
  audit.append([entry]).catch((error: unknown) => {
    logger.error({ sensorId, error: String(error) }, 'an audit entry was not written');
  });
}
