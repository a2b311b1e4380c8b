// Settings: opened with the database, because everything after it may depend on one. decision: D38
import { openSettingsDesk, type SettingsDesk } from '../../../actors/settings/settings-desk.ts';
import { setupMachine } from '../../../machines/console/settings/setup.machine.ts';
import type { Capability } from '../../capability.ts';
import { settingsRoutes } from '../../operator-plane/settings/settings.ts';

export const settings: Capability<SettingsDesk> = {
  name: 'settings',
  opensAt: 'relational_database',
  async open({ relational, config, logger, time, settingDefaults: defaults }) {
    const desk = await openSettingsDesk({
      store: relational.settings,
      base: config.intervals,
      logger,
      now: time.now,
      defaults,
    });
    return {
      service: desk,
      intervals: desk.intervals,
      operatorRoutes: () => [settingsRoutes({ settings: desk, now: time.now })],
      machines: [setupMachine],
      loops: () => [desk.loop],
      close: () => desk.close(),
    };
  },
};
