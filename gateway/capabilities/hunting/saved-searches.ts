// Saved searches: questions for events that have a name, counted by one Console for all. decision: D142
import { createSavedSearchLoop } from '../../../actors/hunting/saved-search-loop.ts';
import { createSavedSearches } from '../../../actors/hunting/saved-searches.ts';
import { savedSearchMachine } from '../../../machines/console/hunting/saved-search.machine.ts';
import type { Capability } from '../../capability.ts';
import { savedSearchRoutes } from '../../operator-plane/hunting/saved-searches.ts';
import { detection } from '../detection/detection.ts';
import { telemetry } from '../telemetry/telemetry.ts';

export const savedSearches: Capability = {
  name: 'saved-searches',
  open(context) {
    const { relational, analytics, time, chance, logger, cursors, config } = context;
    const { alerts } = context.use(detection);
    const { searches: turns } = context.use(telemetry);
    const { events } = analytics;
    const store = relational.savedSearches;
    const searches = createSavedSearches({ store, chance });
    const loop = createSavedSearchLoop({
      ...{ searches: store, events, chance, logger, now: time.now },
      horizon: relational.sinkFloors.horizon,
      baseUrl: () => config.baseUrl,
      raise: (findings, epoch) => alerts.raise(findings, epoch),
      pass: (keys, epoch) => alerts.pass(keys, epoch),
    });
    const asked = { events, cursors, now: time.now, searches: turns };
    return {
      service: searches,
      operatorRoutes: () => [savedSearchRoutes({ searches, asked, now: time.now })],
      loops: () => [loop],
      machines: [savedSearchMachine],
    };
  },
};
