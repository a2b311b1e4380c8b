// What packs that monitor would have stopped, and which sensors do not have what they are to have. decision: D125, D126
import { createRehearsals, type Rehearsals } from '../../../actors/policy/rehearsal.ts';
import type { Capability } from '../../capability.ts';
import { driftRoutes } from '../../operator-plane/policy/drift.ts';
import { rehearsalRoutes } from '../../operator-plane/policy/rehearsal.ts';
import { fleet } from '../fleet/fleet.ts';
import { telemetry } from '../telemetry/telemetry.ts';
import { packs } from './packs.ts';
import { policy } from './policy.ts';

export const rehearsals: Capability<Rehearsals> = {
  name: 'rehearsals',
  open(context) {
    const { relational, time, chance, cursors } = context;
    const own = context.use(packs);
    const wanted = context.use(policy);
    const { directory } = context.use(fleet);
    const { searches } = context.use(telemetry);
    const { events } = context.analytics;
    const sensorIds = () => directory.ids();
    const service = createRehearsals({ book: own.book, wanted, sensorIds, events });
    const routes = {
      ...{ ...own, wanted, cursors, chance, now: time.now },
      ...{ sensors: relational.sensors, teams: relational.teams, sensorIds },
    };
    return {
      service,
      operatorRoutes: () => [
        driftRoutes(routes),
        rehearsalRoutes({ ...routes, rehearsals: service, searches }),
      ],
    };
  },
};
