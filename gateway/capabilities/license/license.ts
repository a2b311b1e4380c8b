// The license: which key is trusted, the service, and its actor beside the others for operators to see. decision: D32
import { Gauge, type Registry } from '@prometheus-io/client';
import type { LicenseService } from '../../../actors/license/license-service.ts';
import { startLicense } from '../../../actors/license/start-license.ts';
import { licenseMachine } from '../../../machines/console/license/license.machine.ts';
import { LICENSE_PHASES } from '../../../machines/trust/license.rules.ts';
import type { Capability } from '../../capability.ts';
import { licenseRoutes } from '../../operator-plane/license/license.ts';
import { noticesOf } from '../../operator-plane/license/license-texts.ts';
import type { DirectoryView } from '../../operator-plane/plumbing/deps.ts';
import { fleet } from '../fleet/fleet.ts';
import { settings } from '../settings/settings.ts';

const ACTOR_ID = 'license';

export const license: Capability<LicenseService> = {
  name: 'license',
  opensAt: 'license_trust_anchor',
  async open(context) {
    const { relational, clock, logger, time } = context;
    const { get } = context.use(settings);
    const service = await startLicense({
      trust: await context.openLicenseTrust(),
      store: relational.license,
      graceDays: get().licenseGraceDays,
      clock,
      logger,
      now: time.now,
      monotonicNow: time.monotonicNow,
    });
    return {
      service: service,
      operatorRoutes: () => [
        licenseRoutes({ license: service, settings: { get }, fleet: context.use(fleet).liveView }),
      ],
      machines: [licenseMachine],
      notices: () => noticesOf(service.view()),
      measure: (registry) => measureLicense(registry, service),
      directories: [directoryOf(service)],
      loops: () => service.loops,
      close: () => service.close(),
    };
  },
};

/** The one actor of the license, as a directory. */
function directoryOf({ actor }: Pick<LicenseService, 'actor'>): DirectoryView {
  return {
    kind: 'license',
    ids: () => [ACTOR_ID],
    size: () => 1,
    ask(id) {
      if (id !== ACTOR_ID) return 'absent';
      const { sinceMs, lastEvent } = actor.view();
      return { id, snapshot: actor.ref.getSnapshot(), sinceMs, lastEvent, restarts: 0 };
    },
  };
}

/** Enough for an alert of one's own before the end. */
function measureLicense(registry: Registry, { view }: Pick<LicenseService, 'view'>): void {
  new Gauge({
    name: 'service_license_phase',
    help: '1 for the phase of the license, 0 for the others.',
    labelNames: ['phase'],
    registers: [registry],
    collect() {
      const { phase } = view();
      for (const one of LICENSE_PHASES) this.set({ phase: one }, one === phase ? 1 : 0);
    },
  });
  new Gauge({
    name: 'service_license_end_timestamp_seconds',
    help: 'When the license ends (valid) and when its grace period does (grace); absent without a license.',
    labelNames: ['end'],
    registers: [registry],
    collect() {
      this.reset();
      const { license: facts } = view();
      if (facts === null) return;
      this.set({ end: 'valid' }, facts.validUntilMs / 1_000);
      this.set({ end: 'grace' }, facts.graceUntilMs / 1_000);
    },
  });
  new Gauge({
    name: 'service_license_nodes_max',
    help: 'Nodes of the license; absent without one.',
    registers: [registry],
    collect() {
      this.reset();
      const { license: facts } = view();
      if (facts !== null) this.set(facts.maxProtectedNodes);
    },
  });
}
