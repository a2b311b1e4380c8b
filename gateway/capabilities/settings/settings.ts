// Settings: opened with the database, because everything after it may depend on one. decision: D38
import {
  openSettingsService,
  type SettingsService,
} from '../../../actors/settings/settings-service.ts';
import { setupMachine } from '../../../machines/console/settings/setup.machine.ts';
import type { Capability } from '../../capability.ts';
import { settingsRoutes } from '../../operator-plane/settings/settings.ts';

export const settings: Capability<SettingsService> = {
  name: 'settings',
  opensAt: 'relational_database',
  async open({ relational, config, logger, time, settingDefaults: defaults }) {
    const service = await openSettingsService({
      store: relational.settings,
      base: config.intervals,
      logger,
      now: time.now,
      defaults,
    });
    return {
      service: service,
      intervals: service.intervals,
      operatorRoutes: () => [settingsRoutes({ settings: service, now: time.now })],
      machines: [setupMachine],
      loops: () => [service.loop],
      close: () => service.close(),
    };
  },
};
