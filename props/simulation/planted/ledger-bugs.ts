// Mistakes with the loss ledger, on its way from the node to whoever asks for it.

import type { ExportFiles } from '../../../sensor/engine/export-files.ts';
import type {
  CoverageRow,
  TelemetryRows,
} from '../../../storage/ports/telemetry/telemetry-store.ts';
import type { FaultKind } from '../faults/kinds.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, SHORT_LIVES } from './settings.ts';

/** Floods meet a small spool while the way to the Console is cut. */
const LOSSES = {
  ...CALM,
  quietMs: 5_000,
  kinds: ['engine.flood', 'network.cut'],
  faultsPerHour: 200,
  spoolEventsMax: 20,
} as const;

function changeRows(change: (rows: TelemetryRows) => TelemetryRows): ConsoleTampering {
  return {
    analytics: (ports) => ({
      ...ports,
      telemetry: {
        ...ports.telemetry,
        insert: (rows) => ports.telemetry.insert(change(rows)),
      },
    }),
  };
}

function changeCoverage(change: (row: CoverageRow) => readonly CoverageRow[]): ConsoleTampering {
  return changeRows((rows) => ({ ...rows, coverage: rows.coverage.flatMap(change) }));
}

/** Files are removed unread while the Sensor waits for its disk. */
const ROTATIONS: readonly FaultKind[] = Array(6).fill('engine.rotate');
const REMOVALS = {
  ...CALM,
  quietMs: 2_000,
  kinds: [...ROTATIONS, 'disk.hang'],
  faultsPerHour: 1_200,
} as const;

/** The head of each file is read as a line like any other. */
function headless(files: ExportFiles): ExportFiles {
  return {
    ...files,
    async open(file) {
      const opened = await files.open(file);
      return (
        opened && {
          ...opened,
          async read(into, position) {
            const bytes = await opened.read(into, position);
            if (position === 0) Buffer.from('{"other_info"').copy(into);
            return bytes;
          },
        }
      );
    },
  };
}

/** Engines are killed, and programs begin meanwhile. */
const GAPS = {
  ...CALM,
  quietMs: 200,
  kinds: ['engine.crash'],
  faultsPerHour: 100,
} as const;
const COUNT_OF_LOSSES = /number_of_dropped_process_events":"\d+/g;

/** Whatever an engine says it lost is read as nothing. */
function lossless(files: ExportFiles): ExportFiles {
  return {
    ...files,
    async open(file) {
      const opened = await files.open(file);
      return (
        opened && {
          ...opened,
          async read(into, position) {
            const bytes = await opened.read(into, position);
            const text = Buffer.from(into).toString('latin1', 0, bytes);
            for (const { 0: found, index } of text.matchAll(COUNT_OF_LOSSES)) {
              into.set(Buffer.from(found.replace(/\d/g, '0')), index);
            }
            return bytes;
          },
        }
      );
    },
  };
}

export const LEDGER_BUGS: readonly PlantedBug[] = [
  {
    name: 'discarded-is-forgotten',
    mistake: 'What the spool discarded is stored as nothing.',
    foundBy: 'loss-ledger',
    options: LOSSES,
    pinnedSeed: '1',
    console: () => changeCoverage((row) => [{ ...row, spool_discarded: 0 }]),
  },
  {
    name: 'hour-keeps-its-first-loss',
    mistake: 'An hour keeps the first number of discarded events that was told of it.',
    foundBy: 'loss-ledger',
    options: LOSSES,
    pinnedSeed: '2',
    console() {
      const firstLosses = new Map<string, number>();
      return changeCoverage((row) => {
        const key = `${row.sensorId} ${row.streamId} ${row.hourMs}`;
        const first = firstLosses.get(key) ?? row.spool_discarded;
        if (first > 0) firstLosses.set(key, first);
        return [{ ...row, spool_discarded: first }];
      });
    },
  },
  {
    name: 'losses-counted-twice',
    mistake: 'What the spool discarded is added to what is known of the hour already.',
    foundBy: 'loss-ledger',
    options: LOSSES,
    pinnedSeed: '1',
    console() {
      const sums = new Map<string, number>();
      return changeCoverage((row) => {
        const key = `${row.sensorId} ${row.streamId} ${row.hourMs}`;
        const sum = (sums.get(key) ?? 0) + row.spool_discarded;
        sums.set(key, sum);
        return [{ ...row, spool_discarded: sum }];
      });
    },
  },
  {
    name: 'identity-counts-again',
    mistake:
      'An hour that a node told under two identities is added up as if two nodes had told it.',
    foundBy: 'loss-ledger',
    options: {
      ...{ ...LOSSES, intervals: SHORT_LIVES, hours: 0.3, quietMs: 2_000 },
      kinds: ['network.cut', 'operator.tokens'],
    },
    pinnedSeed: '1',
    console: () => changeCoverage((row) => [{ ...row, nodeName: row.sensorId }]),
  },
  {
    name: 'gap-counts-for-nothing',
    mistake: 'What an engine says began unseen before it is read as nothing.',
    foundBy: 'unwatched',
    options: GAPS,
    pinnedSeed: '1',
    node: () => ({
      ports: (ports) => ({ ...ports, exportFiles: lossless(ports.exportFiles) }),
    }),
  },
  {
    name: 'removed-lines-count-as-one',
    mistake: 'The Sensor does not look at how many lines stood before a file of the export.',
    foundBy: 'loss-ledger',
    options: REMOVALS,
    pinnedSeed: '1',
    node: () => ({
      ports: (ports) => ({ ...ports, exportFiles: headless(ports.exportFiles) }),
    }),
  },
];
