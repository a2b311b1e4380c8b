// What a fuzz worker is told and what it tells, and the shared memory that holds the input it is working on.
export type WorkerTask = {
  readonly target: string;
  readonly seed: string;
  readonly seconds: number;
  /** Ends after so many iterations instead of after a time. */
  readonly iterations: number | null;
  /** Whether the corpus of the repository is chosen anew at the end. */
  readonly keeps: boolean;
  readonly shared: SharedArrayBuffer;
};
export type Counts = {
  readonly executions: number;
  readonly blocks: number;
  readonly newBlocks: number;
  readonly pool: number;
  readonly seconds: number;
};
export type FindingMessage = {
  readonly kind: string;
  readonly detail: string;
  readonly iteration: number;
  /** Base64. */
  readonly input: string;
};
export type WorkerMessage =
  | { readonly type: 'progress'; readonly counts: Counts }
  | { readonly type: 'finding'; readonly finding: FindingMessage }
  | { readonly type: 'done' };

const INPUT_MAX_BYTES = 1_048_576;
const HEAD_INTS = 3;
const HEAD_BYTES = HEAD_INTS * 4;
const [BEATS, LENGTH, ITERATION] = [0, 1, 2];

export function makeShared(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + INPUT_MAX_BYTES);
}

/** Notes the input that is run next. */
export function writeInput(shared: SharedArrayBuffer, bytes: Buffer, iteration: number): void {
  const head = new Int32Array(shared, 0, HEAD_INTS);
  const kept = bytes.subarray(0, INPUT_MAX_BYTES);
  new Uint8Array(shared, HEAD_BYTES).set(kept);
  Atomics.store(head, LENGTH, kept.length);
  Atomics.store(head, ITERATION, iteration);
  Atomics.add(head, BEATS, 1);
}

/** The input being run, and a number that changes with every execution. */
export function readInput(shared: SharedArrayBuffer): {
  readonly beats: number;
  readonly iteration: number;
  readonly bytes: Buffer;
} {
  const head = new Int32Array(shared, 0, HEAD_INTS);
  const length = Atomics.load(head, LENGTH);
  return {
    beats: Atomics.load(head, BEATS),
    iteration: Atomics.load(head, ITERATION),
    bytes: Buffer.from(new Uint8Array(shared, HEAD_BYTES, length)),
  };
}
