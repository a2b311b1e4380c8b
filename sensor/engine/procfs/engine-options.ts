// What the engine was started with.
import { hostname } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    'export-filename': { type: 'string' },
    'export-file-max-size-mb': { type: 'string', default: '10' },
    'export-file-max-backups': { type: 'string', default: '5' },
    'node-name': { type: 'string', default: hostname() },
    'poll-ms': { type: 'string', default: '100' },
    'ignore-pid': { type: 'string', multiple: true, default: [] },
    mode: { type: 'string', default: 'auto' },
    beside: { type: 'boolean', default: false },
  },
});
export const exportFile = path.resolve(options['export-filename'] ?? 'events.log');
export const maxBytes = Math.max(0.001, Number(options['export-file-max-size-mb'])) * 1_048_576;
export const maxBackups = Math.max(1, Number(options['export-file-max-backups']));
export const nodeName = options['node-name'];
export const pollMs = Math.max(10, Number(options['poll-ms']));
export const ignored = new Set([process.pid, ...options['ignore-pid'].map(Number)]);
export const mode = options.mode;
/** Whether another engine still writes the export: this one then waits to be told that it may. */
export const isBeside = options.beside;
