// The reference exporter: objects in a map. What it copies is told by a source of names. decision: D157
import type { TableDay } from '../../../machines/console/exports/export-run.rules.ts';
import { prefixed } from '../../../machines/console/exports/target.rules.ts';
import { type CopiedPart, type Exporter, ExportFailed } from '../../ports/exports/exporter.ts';

export type MemoryExporter = {
  readonly exporter: Exporter;
  /** Lines of each object, by its whole name. */
  readonly objects: Map<string, readonly string[]>;
  /** Tells what a call does: 'fail' before it wrote, 'fail_after' it did. */
  setMode(mode: 'work' | 'fail' | 'fail_after'): void;
};

/** Makes an empty place; `rowsOf` names the rows of a day. */
export function createMemoryExporter(
  rowsOf: (of: TableDay) => readonly string[] = () => [],
): MemoryExporter {
  const objects = new Map<string, readonly string[]>();
  let mode: 'work' | 'fail' | 'fail_after' = 'work';
  const failing = (when: 'fail' | 'fail_after'): void => {
    if (mode === when) throw new ExportFailed('the place is told to fail');
  };
  const told = (lines: readonly string[]): CopiedPart => ({
    ...{ rows: lines.length, bytes: lines.join('\n').length, sha256: '0'.repeat(64) },
  });
  const write = (name: string, lines: readonly string[]): CopiedPart => {
    failing('fail');
    objects.set(name, lines);
    failing('fail_after');
    return told(lines);
  };
  const exporter: Exporter = {
    async copy({ table, day, destination, name, part, parts }) {
      const lines = rowsOf({ table, day }).filter((_, at) => at % parts === part - 1);
      return write(prefixed(destination.prefix, name), lines);
    },
    put: async ({ destination, name, text }) => write(prefixed(destination.prefix, name), [text]),
    async remove({ destination, names }) {
      failing('fail');
      for (const name of names) objects.delete(prefixed(destination.prefix, name));
      failing('fail_after');
    },
  };
  return {
    exporter,
    objects,
    setMode(next) {
      mode = next;
    },
  };
}
