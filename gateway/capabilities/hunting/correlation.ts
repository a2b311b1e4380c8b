// The same thing on several sensors is one alert; and what is declared to be usual is none. decision: D145, D147
import { createCorrelationLoop } from '../../../actors/hunting/correlation-loop.ts';
import { createUsualMarks, type UsualMarks } from '../../../actors/hunting/usual-marks.ts';
import type { Capability } from '../../capability.ts';
import { usualRoutes } from '../../operator-plane/hunting/usual.ts';
import { detection } from '../detection/detection.ts';
import { telemetry } from '../telemetry/telemetry.ts';

export const correlation: Capability<UsualMarks> = {
  name: 'correlation',
  open(context) {
    const { relational, analytics, time, chance } = context;
    const { alerts } = context.use(detection);
    const { searches } = context.use(telemetry);
    const { events, baselines } = analytics;
    const usual = createUsualMarks({ store: relational.usualMarks, chance });
    const loop = createCorrelationLoop({
      ...{ events, usual, chance, now: time.now, alerts: relational.alerts },
      raise: (findings, epoch) => alerts.raise(findings, epoch),
    });
    const routes = { events, searches, baselines, usual, now: time.now };
    return {
      service: usual,
      operatorRoutes: () => [usualRoutes(routes)],
      loops: () => [loop],
    };
  },
};
