// The statecharts of the nodes as they last reported them. A state that differs from the one before is stored as a
// transition of kind `node/<machine>`; the instants in it are the node's own and believed by nobody. decision: D89
import type { MachineReport } from '../../machines/wire/machines.ts';
import type { TransitionRecorder } from './transition-recorder.ts';

export type NodeMachine = MachineReport & { readonly reportedAtMs: number };

export type NodeMachines = {
  /** What a node reported; a machine that it leaves out runs no more. Ids are of enrolled sensors. */
  take(sensorId: string, reports: readonly MachineReport[], nowMs: number): void;
  /** In the order of their names; nothing before the first report. */
  of(sensorId: string): readonly NodeMachine[];
};

/** Makes an empty picture; moves go to the recorder. */
export function createNodeMachines(recorder: Pick<TransitionRecorder, 'add'>): NodeMachines {
  const known = new Map<string, ReadonlyMap<string, NodeMachine>>();

  function note(
    sensorId: string,
    from: MachineReport | undefined,
    to: MachineReport,
    nowMs: number,
  ) {
    if (from?.value === to.value) return;
    recorder.add({
      ...{ sensorId, actorKind: `node/${to.machine}`, region: '', event: 'node.reported' },
      ...{ from: from?.value ?? '', to: to.value, atMs: nowMs, after: null },
      facts: { since: to.since, ...(to.due === undefined ? {} : { due: to.due }) },
    });
  }

  return {
    take(sensorId, reports, nowMs) {
      const before = known.get(sensorId);
      const after = new Map(
        reports.map((report) => [report.machine, { ...report, reportedAtMs: nowMs }] as const),
      );
      for (const [machine, report] of after) note(sensorId, before?.get(machine), report, nowMs);
      const since = new Date(nowMs).toISOString();
      for (const [machine, report] of before ?? []) {
        if (!after.has(machine)) note(sensorId, report, { machine, value: '', since }, nowMs);
      }
      known.set(sensorId, after);
    },
    of: (sensorId) =>
      [...(known.get(sensorId)?.values() ?? [])].sort((a, b) => (a.machine < b.machine ? -1 : 1)),
  };
}
