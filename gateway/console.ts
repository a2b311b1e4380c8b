// Puts a Console together from its ports and the list of capabilities: the ten steps of a start run in their order, each
// capability is opened in its own, and whatever was opened is closed in reverse when a later step fails, or at the end. The
// program, the attacks on it and the simulated fleet differ in their ports only. decision: D4, D58; invariant: I14
import type { FastifyInstance } from 'fastify';
import { runStartup, type StartupResult } from '../actors/startup/startup.actor.ts';
import type { StartupStep } from '../machines/console/runtime/startup.rules.ts';
import { access } from './capabilities/access/access.ts';
import { license } from './capabilities/license/license.ts';
import { settings } from './capabilities/settings/settings.ts';
import type { Capability, ConsoleContext } from './capability.ts';
import { openContext, type Slots } from './console-context.ts';
import type { ConsolePorts } from './console-ports.ts';
import { colonHex } from './fingerprint-text.ts';
import { attachPlanes, buildPlanes, type Planes } from './planes.ts';
import { runProvisioning } from './setup/run-provisioning.ts';

export type Console = {
  readonly port: number;
  readonly caPem: string;
  /** SHA-256 of the CA certificate, colon-separated upper-case hex. */
  readonly caFingerprint: string;
  /** The operator plane. */
  readonly app: FastifyInstance;
  /** What is there while it runs. */
  readonly context: ConsoleContext;
  /** Refuses newcomers, ends streams, writes what is queued, closes the stores. */
  stop(): Promise<void>;
};
export type ConsoleStart =
  | { readonly ok: true; readonly console: Console }
  | Extract<StartupResult, { ok: false }>;

type Running = {
  readonly ports: ConsolePorts;
  readonly capabilities: readonly Capability[];
  readonly context: ConsoleContext;
  readonly slots: Slots;
  readonly closers: (() => Promise<void> | void)[];
  planes: Planes | null;
  isDraining: boolean;
};

/** Starts a Console; a step that fails is named with its reason, and nothing keeps running. */
export async function runConsole(
  ports: ConsolePorts,
  capabilities: readonly Capability[],
): Promise<ConsoleStart> {
  const slots: Slots = { opened: new Map() };
  const running: Running = {
    ...{ ports, capabilities, slots, closers: [], planes: null, isDraining: false },
    context: openContext(ports, slots, () => running.isDraining),
  };
  const { logger, clock, givenUp } = ports;
  const result = await runStartup({ clock, logger, givenUp, steps: stepsOf(running) });
  const stop = () => shut(running);
  if (!result.ok) {
    await stop();
    return result;
  }
  const { context } = running;
  const { serverCaPem, serverCaFingerprintSha256 } = context.certificates.tls();
  return {
    ok: true,
    console: {
      port: context.listener.port,
      caPem: serverCaPem,
      caFingerprint: colonHex(serverCaFingerprintSha256),
      app: planesOf(running).app,
      context,
      stop,
    },
  };
}

async function shut(running: Running): Promise<void> {
  const { closers, ports } = running;
  running.isDraining = true;
  for (const close of closers.splice(0).reverse()) {
    await Promise.resolve(close()).catch((error: unknown) => {
      ports.logger.warn({ error: String(error) }, 'something did not close in order');
    });
  }
  ports.clock.stop();
}

function stepsOf(running: Running): Parameters<typeof runStartup>[0]['steps'] {
  const { ports, slots, closers, context } = running;
  const opening = {
    onClose: (close: () => Promise<void>) => void closers.push(close),
    onStore: (name: string, store: Parameters<typeof context.supervised.add>[1]) =>
      context.supervised.add(name, store),
    givenUp: ports.givenUp,
  };
  return {
    async configuration() {
      const { plaintextStores: stores } = ports.config;
      if (stores.length > 0) {
        ports.logger.warn(
          { stores },
          'what is sent to these stores can be read on the way: use TLS',
        );
      }
      closers.push(ports.takeData());
      return 'done';
    },
    async policy_signing_key() {
      slots.policySigning = await ports.keys.policySigning();
      return 'done';
    },
    async relational_database() {
      slots.relational = await ports.openRelational(opening);
      return openAt(running, 'relational_database');
    },
    license_trust_anchor: () => openAt(running, 'license_trust_anchor'),
    async analytics_and_sink() {
      slots.analytics = await ports.openAnalytics(opening);
      return openAt(running, 'analytics_and_sink');
    },
    async routers() {
      slots.pageLinkKey = await ports.keys.pageLinks();
      await openAt(running, 'routers');
      running.planes = await buildPlanes(context);
      closers.push(running.planes.close);
      return 'done';
    },
    async sensor_tls_assets() {
      slots.certificates = await ports.openCertificates();
      return 'done';
    },
    provisioning: () => provisionWhatIsMissing(context),
    background_tasks: () => startBackground(running),
    listener: () => bind(running),
  };
}

async function openAt(running: Running, step: StartupStep) {
  const { capabilities, slots, closers, context } = running;
  for (const { name, opensAt = 'routers', open } of capabilities) {
    if (opensAt !== step) continue;
    const opened = await open(context);
    slots.opened.set(name, opened);
    const { close } = opened;
    if (close !== undefined) closers.push(close);
  }
  return 'done' as const;
}

function provisionWhatIsMissing(context: ConsoleContext) {
  const { relational, config, answers, logger, time, chance } = context;
  return runProvisioning({
    file: config.provisioning,
    answers,
    audit: relational.audit,
    provision: {
      ...{ users: relational.users, logger, now: time.now, chance },
      license: context.use(license),
      settings: context.use(settings),
      passwords: context.use(access).passwords,
    },
    logger,
  });
}

async function startBackground({ context, closers }: Running) {
  for (const { loops } of context.contributions()) {
    for (const loop of (await loops?.()) ?? []) context.loops.add(loop);
  }
  context.loops.start();
  closers.push(() => context.loops.stop());
  return 'done' as const;
}

function planesOf({ planes }: Running): Planes {
  if (planes === null) throw new Error('start-up order: the routers are not built yet');
  return planes;
}

async function bind(running: Running) {
  const { ports, slots, context, closers } = running;
  const planes = planesOf(running);
  const listener = await ports.listen(context.certificates.tls(), (app) =>
    attachPlanes(context, planes, app),
  );
  slots.listener = listener;
  closers.push(async () => {
    listener.stopAccepting();
    for (const { drain } of [...context.contributions()].reverse()) await drain?.();
    await planes.close();
    listener.close();
  });
  return 'done' as const;
}
