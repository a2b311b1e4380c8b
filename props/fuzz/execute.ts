// One execution of one target, with the promises every target keeps: it ends, in bounded time, leaves the input and
// the prototypes as they were, and throws nothing of its own.
import { BrokenPromise, type FuzzTarget, type Note } from './target.ts';

/** An input below TIMED_BYTES_MAX may take so long; a pause of the machine is told from work by trying again. */
const TIME_MAX_MS = 250;
const TIMED_BYTES_MAX = 65_536;
const TIMINGS = 2;

export type Finding = {
  /** The promise that broke, without what differs from input to input. */
  readonly kind: string;
  readonly detail: string;
};

/** Runs one input; null when every promise held. Never rejects. */
export async function execute(
  target: FuzzTarget,
  bytes: Buffer,
  note: Note = () => undefined,
): Promise<Finding | null> {
  const given = Buffer.from(bytes);
  const beganMs = workedMs();
  try {
    await target.run(given, note);
  } catch (error) {
    return findingOf(error);
  }
  if (!given.equals(bytes)) return { kind: 'the input was changed', detail: '' };
  const polluted = pollutedName();
  if (polluted !== null) return { kind: `Object.prototype.${polluted} appeared`, detail: '' };
  const tookMs = workedMs() - beganMs;
  if (tookMs > TIME_MAX_MS && bytes.length < TIMED_BYTES_MAX) return timeAgain(target, bytes);
  return null;
}

async function timeAgain(target: FuzzTarget, bytes: Buffer): Promise<Finding | null> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < TIMINGS; at += 1) {
    const beganMs = workedMs();
    await target.run(Buffer.from(bytes), () => undefined);
    least = Math.min(least, workedMs() - beganMs);
  }
  if (least <= TIME_MAX_MS) return null;
  return { kind: 'too slow', detail: `${Math.round(least)} ms for ${bytes.length} bytes` };
}

// The thread's own work: what else the machine does counts for nothing.
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** What broke, from what was thrown. */
export function findingOf(error: unknown): Finding {
  if (error instanceof BrokenPromise) {
    return { kind: kindOf(error.message.split(':')[0] ?? ''), detail: error.message };
  }
  const thrown = error instanceof Error ? error : new Error(String(error));
  const frame = /\((?:file:\/\/)?[^)]*\/((?:machines|gateway|sensor|storage|actors)\/[^):]+)/.exec(
    thrown.stack ?? '',
  )?.[1];
  const kind = kindOf(`threw ${thrown.name} in ${frame ?? 'the target'}: ${thrown.message}`);
  return { kind, detail: (thrown.stack ?? thrown.message).slice(0, 1_500) };
}

function kindOf(text: string): string {
  return text.replaceAll(/\d+/g, '#').replaceAll(/\s+/g, ' ').slice(0, 160);
}

// `polluted` stands in the dictionaries; any other name that appears is found by its count.
const PROTOTYPE_NAMES = new Set<PropertyKey>(Reflect.ownKeys(Object.prototype));

function pollutedName(): string | null {
  const names = Reflect.ownKeys(Object.prototype);
  if (names.length === PROTOTYPE_NAMES.size) return null;
  const found = names.filter((name) => !PROTOTYPE_NAMES.has(name));
  for (const name of found) Reflect.deleteProperty(Object.prototype, name);
  return found.map(String).join(', ');
}
