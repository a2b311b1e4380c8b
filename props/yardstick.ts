// How slow this machine is just now, told by the same kind of thing that a test is about to time: what a promise of so many
// milliseconds is widened by, so that no test judges the machine.

const TRIES = 5;
/** A busy machine is slower at one instant than at the next. */
const SLACK = 20;

/** What a promise of time may take longer here: the slowest of a few tries of the same kind, many times over. */
export async function slackOf(act: () => Promise<unknown>): Promise<number> {
  let slowestMs = 0;
  for (let n = 0; n < TRIES; n += 1) {
    const startedMs = performance.now();
    await act();
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  return SLACK * slowestMs;
}

/** What the processor had to do for it, however many others it served meanwhile. */
export async function workOf(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
