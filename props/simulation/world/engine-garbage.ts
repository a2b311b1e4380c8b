// What an engine writes when it is out of order: lines that are no events, too long, or come in two halves.
import { EXPORT_LINE_MAX_BYTES } from '../../../machines/limits.ts';
import type { createEngineLines } from './engine-lines.ts';
import type { EngineProcess } from './engine-process.ts';
import type { Random } from './random.ts';

/** One piece of it; `goOn` writes what ends a half line. */
export function writeGarbage(
  of: {
    readonly random: Random;
    readonly lines: Pick<ReturnType<typeof createEngineLines>, 'event'>;
    readonly wallNow: () => number;
  },
  { output, life }: Pick<EngineProcess, 'output' | 'life'>,
  goOn: () => void,
): void {
  const { random, lines, wallNow } = of;
  if (output === null) return;
  const kind = random.pick(['text', 'json', 'long', 'half', 'bytes'] as const);
  if (kind === 'text') output.writeRaw('panic: runtime error\ngoroutine 1 [running]:\n');
  if (kind === 'json') output.writeRaw('{"process_exec":{"process":{}}\n{}\n{"other":1}\n');
  if (kind === 'long') output.writeRaw(`{"x":"${'x'.repeat(EXPORT_LINE_MAX_BYTES)}"}\n`);
  if (kind === 'bytes') output.writeRaw(`${random.bytes(64).toString('latin1')}\n`);
  if (kind === 'half') {
    const line = lines.event(wallNow());
    output.writeHalf(line, random.between(1, line.text.length));
    life.after(random.between(10, 3_000), goOn);
  }
}
