// The reference stores of this capability, as calls.
import type { ExportSources, ExportStores } from '../../ports/exports/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { exportSourceCalls } from '../telemetry/export-rows.ts';
import type { SeenRows } from '../telemetry/stores.ts';
import { memoryExportCalls } from './export-store.ts';

/** The calls on empty stores. */
export function exportStores(base: MemoryBase): StoreCalls<ExportStores> {
  return { exports: memoryExportCalls(base) };
}

/** The calls over what was seen. */
export function exportSources({ events }: SeenRows): StoreCalls<ExportSources> {
  return { exportSource: exportSourceCalls(events) };
}
