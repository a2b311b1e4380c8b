// What a Console of the simulated fleet is given instead of files, databases and a port.

import { ed25519 } from '@noble/curves/ed25519.js';
import type { OutboundPost } from '../../../actors/outbound/outbound-post.ts';
import { DestinationUnreachable } from '../../../actors/outbound/unreachable.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import type { ConsolePorts, ServerTls } from '../../../gateway/console-ports.ts';
import { configFrom, memoryKeys, memoryPorts } from '../../../gateway/memory-ports.fixture.ts';
import type { Intervals } from '../../../machines/limits.ts';
import { createCheapHasher } from '../../../storage/memory/access/password-hasher.ts';
import type { PasswordHasher } from '../../../storage/ports/access/password-hasher.ts';
import { worldSigner } from './audit-keys.ts';
import { worldCertificates } from './certificates.ts';
import { type HostClock, timeOf } from './clocks.ts';
import { CONSOLE_URL } from './console-name.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { Life } from './life.ts';
import { worldLogger } from './logger.ts';
import type { Random } from './random.ts';
import type { SimulatedAnalyticsPorts } from './stores-analytics.ts';
import type { SimulatedRelationalPorts } from './stores-relational.ts';
import type { World } from './world.ts';

/** The stores of one Console life. */
export type SimulatedPorts = {
  readonly relational: SimulatedRelationalPorts;
  readonly analytics: SimulatedAnalyticsPorts;
};

/** Signs the licenses of this world. */
export const WORLD_LICENSE_KEY = Buffer.alloc(32, 9);
const ANCHOR = {
  source: 'evaluation',
  publicKey: ed25519.getPublicKey(WORLD_LICENSE_KEY),
} as const;
/** How long a password takes to be judged; long enough for somebody to change it meanwhile. */
const HASH_MS = 40;
const CONFIG = configFrom({ base_url: CONSOLE_URL });

/** The ports of one life. */
export function consolePorts(of: {
  readonly world: World;
  readonly name: string;
  readonly life: Life;
  readonly clock: HostClock & { readonly rate: number };
  readonly wheel: WheelClock;
  readonly intervals: Intervals;
  readonly chance: Chance;
  readonly random: Random;
  readonly ports: SimulatedPorts;
  readonly provider: IdentityProvider;
  readonly listen: ConsolePorts['listen'];
  readonly roots: readonly string[];
  readonly outboundPost: OutboundPost;
}): ConsolePorts {
  const { world, name, life, clock, ports } = of;
  const certificates = worldCertificates(life, of.random, of.roots);
  const tls: ServerTls = {
    ...{ certFile: '', keyFile: '', clientCaFile: '', serverCaFingerprintSha256: 'aabb' },
    serverKeyPin: 'cGlu',
    serverCaPem: certificates.rootsPem,
  };
  return memoryPorts(ports, {
    config: { ...CONFIG, intervals: of.intervals },
    holder: name,
    logger: worldLogger(world, name, life),
    time: timeOf(life, clock),
    clock: of.wheel,
    chance: of.chance,
    keys: {
      ...memoryKeys,
      auditCheckpoints: async () => worldSigner(name),
    },
    async openRelational({ onClose }) {
      onClose(() => ports.relational.close());
      return ports.relational;
    },
    async openAnalytics({ onClose }) {
      onClose(() => ports.analytics.close());
      return ports.analytics;
    },
    openLicenseTrust: async () => ({ anchors: [ANCHOR], evaluation: null }),
    openCertificates: async () => ({
      sensors: certificates,
      tls: () => tls,
      isRenewalDue: () => false,
      renew: async () => tls,
    }),
    listen: of.listen,
    hasher: slowHasher(life),
    // The rules of passwords are judged elsewhere; here everybody chooses well.
    commonPasswords: async () => new Set(),
    openProviders: () => of.provider.clientFor(life),
    outboundMail: async () => ({
      ...{ kind: 'failed', isFinal: false, detail: 'nobody receives here' },
    }),
    outboundPost: of.outboundPost,
    outboundStream: async () => {
      throw new DestinationUnreachable('nobody receives here', 'unreachable');
    },
    afterParsing: (run) => void life.after(0, run),
  });
}

function slowHasher(life: Life): PasswordHasher {
  const cheap = createCheapHasher();
  const takesTime = () => life.call('hasher', () => undefined, HASH_MS);
  return {
    isOutdated: cheap.isOutdated,
    hash: (password) => takesTime().then(() => cheap.hash(password)),
    verify: (stored, password) => takesTime().then(() => cheap.verify(stored, password)),
  };
}
