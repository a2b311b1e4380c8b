// A run whose state lies in a row: it is restored from the row, moves by one event, and is told as a row again. decision: D157
import { initialTransition, transition } from 'xstate';
import {
  type ExportRunContext,
  type ExportRunEvent,
  type ExportRunState,
  exportRunMachine,
} from './export-run.machine.ts';

export type ExportStanding = ExportRunContext & { readonly state: ExportRunState };

/** A run that nobody worked on. */
export function newExportRun(nowMs: number): ExportStanding {
  const [first] = initialTransition(exportRunMachine, { nowMs });
  return { ...first.context, state: first.value };
}

/** A run after an event; one that its state does not expect changes nothing. */
export function exportRunAfter(standing: ExportStanding, event: ExportRunEvent): ExportStanding {
  const { state: value, ...context } = standing;
  const [next] = transition(
    exportRunMachine,
    exportRunMachine.resolveState({ value, context }),
    event,
  );
  return { ...next.context, state: next.value };
}

/** Whether somebody works on it. */
export function isActive({ state }: Pick<ExportStanding, 'state'>): boolean {
  return state === 'counting' || state === 'copying' || state === 'sealing';
}
