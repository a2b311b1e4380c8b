// The license: which key is trusted, the service, and its actor beside the others for operators to see. decision: D32
import type { LicenseService } from '../../../actors/license/license-service.ts';
import { startLicense } from '../../../actors/license/start-license.ts';
import { licenseMachine } from '../../../machines/console/license/license.machine.ts';
import type { Capability } from '../../capability.ts';
import { licenseRoutes } from '../../operator-plane/license/license.ts';
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
      directories: [directoryOf(service)],
      loops: () => [service.loop],
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
