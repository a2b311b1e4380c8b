// The people who run the fleet. They reach a Console that is up, are told when a store is away, and try again; what they
// hold in their hands (tokens) is given to nodes by other ways than the network.
import type { IssuedToken } from '../../../actors/trust/tokens.ts';
import type { ConsoleHost, RunningConsole } from './console-host.ts';
import type { NodeHost } from './node-host.ts';
import type { SimulatedStores } from './stores.ts';
import type { World } from './world.ts';

export type Operators = {
  /** Gives a node its first token, as soon as a Console makes one, and switches it on. */
  enrol(node: NodeHost): void;
  revoke(node: NodeHost): void;
  /** A re-enrollment token for the identity the node has now. */
  reenroll(node: NodeHost): void;
  /** Wipes the node and enrols it as a new sensor. */
  recreate(node: NodeHost): void;
  /** Tokens that are never used, withdrawn, used twice, or used too late. */
  playWithTokens(node: NodeHost, how: number): void;
  /** Wipes the node, or leaves it as it is, and gives it a token that no Console takes. */
  giveWrongToken(node: NodeHost, how: number): void;
  /** The sensor that the node's last identity in the registry is; null when it has none. */
  sensorOf(node: NodeHost): string | null;
};

const RETRY_MS = 4_000;
const TRIES_MAX = 200;
const NO_TOKEN = 'a word that is no token';
/** A token is used up, or over, after so long. */
const USED_AFTER_MS = 15_000;

/** Makes the operators of a fleet. */
export function createOperators(of: {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly stores: SimulatedStores;
}): Operators {
  const { world, consoles, stores } = of;

  /** Does it at a Console that is up; what fails because a store is away is done again later. */
  function insist<T>(
    act: (console: RunningConsole) => Promise<T>,
    then: (value: T) => void = () => undefined,
    tries = 0,
  ): void {
    const up = consoles.find((one) => one.running() !== null)?.running() ?? null;
    const again = (): void => {
      if (tries < TRIES_MAX) world.scheduler.after(RETRY_MS, () => insist(act, then, tries + 1));
    };
    if (up === null) {
      again();
      return;
    }
    let isAnswered = false;
    up.life.hear(() => {
      act(up).then(
        (value) => {
          isAnswered = true;
          then(value);
        },
        () => {
          isAnswered = true;
          again();
        },
      );
    });
    // A Console that ended meanwhile never answers.
    up.life.onEnd(() => {
      if (!isAnswered) again();
    });
  }

  function tokenFor(node: NodeHost, use: (token: IssuedToken) => void): void {
    insist((console) => console.side.tokens.create({ note: node.name, actor: 'operator' }), use);
  }

  function sensorOf(node: NodeHost): string | null {
    let found: string | null = null;
    for (const sensor of stores.relational.state.sensors.values()) {
      if (sensor.nodeName === node.name) found = sensor.sensorId;
    }
    return found;
  }

  const operators: Operators = {
    enrol(node) {
      tokenFor(node, ({ secret }) => {
        node.giveToken(secret);
        node.start();
      });
    },
    revoke(node) {
      const sensorId = sensorOf(node);
      if (sensorId === null) return;
      insist((console) =>
        console.side.revokeSensor({ sensorId, reason: 'by an operator', actor: 'operator' }),
      );
    },
    reenroll(node) {
      const sensorId = sensorOf(node);
      if (sensorId === null) return;
      insist(
        (console) => console.side.tokens.createForSensor({ sensorId, actor: 'operator' }),
        (made) => {
          if (!made.ok) return;
          node.giveToken(made.secret);
          node.start();
        },
      );
    },
    recreate(node) {
      node.wipe();
      operators.enrol(node);
    },
    playWithTokens(node, how) {
      if (how < 0.25) tokenFor(node, () => undefined);
      else if (how < 0.5) {
        tokenFor(node, ({ token }) =>
          insist((console) =>
            console.side.tokens.revoke({ tokenId: token.tokenId, actor: 'operator' }),
          ),
        );
      } else {
        // A fresh token for a node that needs none: it takes it only when it has no identity.
        tokenFor(node, ({ secret }) => node.giveToken(secret));
      }
    },
    giveWrongToken(node, how) {
      const startWith = (secret: string): void => {
        node.wipe();
        node.giveToken(secret);
        node.start();
      };
      if (how < 0.2) node.giveToken(NO_TOKEN);
      else if (how < 0.4) startWith(NO_TOKEN);
      else if (how < 0.6) {
        tokenFor(node, ({ token, secret }) =>
          insist(
            ({ side }) => side.tokens.revoke({ tokenId: token.tokenId, actor: 'operator' }),
            () => startWith(secret),
          ),
        );
      } else if (how < 0.8) {
        tokenFor(node, ({ secret }) => {
          startWith(secret);
          world.scheduler.after(USED_AFTER_MS, () => startWith(secret));
        });
      } else {
        const asked = { note: node.name, ttlMs: USED_AFTER_MS, actor: 'operator' };
        insist(
          ({ side }) => side.tokens.create(asked),
          ({ secret }) => world.scheduler.after(2 * USED_AFTER_MS, () => startWith(secret)),
        );
      }
    },
    sensorOf,
  };
  return operators;
}
