// The next input of a target: one of its pool, changed by the target's own mutator, by nodes when it is JSON, or by
// bytes. Everything comes from the iteration's generator and the pool, so both together give the input again.
import { mutateBytes } from './mutate-bytes.ts';
import { mutateJson } from './mutate-json.ts';
import { type Random, randomOf } from './random.ts';
import type { FuzzTarget } from './target.ts';

/** The largest input that is made. */
const INPUT_MAX_BYTES = 49_152;
const WORDS = ['__proto__', 'polluted', 'constructor', 'prototype', '\ufeff', '\0', '\r\n'];

export type InputName = { readonly seed: string; readonly iteration: number };

/** Makes the input of one iteration from a pool that is not empty. */
export function nextInput(target: FuzzTarget, pool: readonly Buffer[], name: InputName): Buffer {
  const random = randomOf(`${name.seed}:${target.name}:${name.iteration}`);
  // What was found last leads on most often.
  const recent = pool.slice(-8);
  const bytes = random.once(3) ? random.pick(recent) : random.pick(pool);
  const other = random.pick(pool);
  return change(target, bytes, other, random).subarray(0, INPUT_MAX_BYTES);
}

function change(target: FuzzTarget, bytes: Buffer, other: Buffer, random: Random): Buffer {
  if (target.mutate !== undefined && !random.once(2)) return target.mutate(bytes, random);
  if (target.form === 'json' && !random.once(4)) {
    const changed = mutateJson(bytes.toString(), random, parsedOrNull(other));
    if (changed !== null) return Buffer.from(changed);
  }
  if (target.form === 'lines' && !random.once(3)) return changeLines(bytes, other, random);
  const dictionary = [...(target.dictionary ?? []), ...WORDS];
  return mutateBytes(bytes, { random, dictionary, other });
}

function changeLines(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const lines = bytes.toString().split('\n');
  const at = random.below(lines.length);
  const line = lines[at] ?? '';
  switch (random.below(5)) {
    case 0:
      lines.splice(at, 1);
      break;
    case 1:
      lines.splice(random.below(lines.length + 1), 0, line);
      break;
    case 2:
      lines.splice(at, 0, random.pick(other.toString().split('\n')));
      break;
    default:
      lines[at] = mutateJson(line, random) ?? line.slice(0, random.below(line.length + 1));
  }
  return Buffer.from(lines.join('\n'));
}

function parsedOrNull(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}
