// Makes an input smaller while it still shows what it was kept for: pieces are left out, large ones first.
const PIECES_SMALLEST_BYTES = 1;

/** The smallest input found that still `shows` it, with at most `triesMax` questions. Deterministic. */
export async function minimise(
  bytes: Buffer,
  shows: (smaller: Buffer) => Promise<boolean>,
  triesMax: number,
): Promise<Buffer> {
  let best = bytes;
  let tries = 0;
  for (let size = best.length >> 1; size >= PIECES_SMALLEST_BYTES; size >>= 1) {
    for (let at = 0; at < best.length; ) {
      if (tries >= triesMax) return best;
      tries += 1;
      const smaller = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      if (await shows(smaller)) best = smaller;
      else at += size;
    }
  }
  return best;
}
