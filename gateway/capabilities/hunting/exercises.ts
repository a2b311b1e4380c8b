// Exercises: how much of what was tried on nodes was seen, and how fast. decision: D146
import { createExerciseLoop } from '../../../actors/hunting/exercise-loop.ts';
import { createExercises } from '../../../actors/hunting/exercises.ts';
import { exerciseMachine } from '../../../machines/console/hunting/exercise.machine.ts';
import type { Capability } from '../../capability.ts';
import { exerciseRoutes } from '../../operator-plane/hunting/exercises.ts';
import { detection } from '../detection/detection.ts';
import { fleet } from '../fleet/fleet.ts';

export const exercises: Capability = {
  name: 'exercises',
  open(context) {
    const { relational, analytics, time, chance, cursors } = context;
    const { alerts } = context.use(detection);
    const { liveView } = context.use(fleet);
    const store = relational.exercises;
    const service = createExercises({ store, sensors: relational.sensors, chance });
    const loop = createExerciseLoop({
      ...{ store, chance, now: time.now, events: analytics.events, alerts: relational.alerts },
      isTelling: (sensorId) => liveView.get(sensorId)?.freshness === 'fresh',
      raise: (findings, epoch) => alerts.raise(findings, epoch),
    });
    return {
      service,
      operatorRoutes: () => [exerciseRoutes({ exercises: service, cursors, now: time.now })],
      loops: () => [loop],
      machines: [exerciseMachine],
    };
  },
};
