// What a Sensor says of a Console that takes its certificate for expired, or for not valid yet, while by the Sensor's own
// clock it is neither. decision: D67
import { span } from '../span.ts';

export type CertificateDates = { readonly notBeforeMs: number; readonly notAfterMs: number };

/**
 * The sentence for people. `offsetMs` is the Console's clock minus ours as it was heard last; one that does not explain what
 * the Console says is out of date, or another Console's, and a bound is told that follows from the certificate alone.
 */
export function disputeSentence(
  { notBeforeMs, notAfterMs }: CertificateDates,
  nowMs: number,
  offsetMs: number | null,
): string {
  const consoleMs = offsetMs === null ? null : nowMs + offsetMs;
  if (consoleMs !== null && consoleMs < notBeforeMs) {
    return `${OFF_BY} ${span(Math.abs(consoleMs - nowMs))}, behind this node's: ${TAKES} not yet valid`;
  }
  if (consoleMs !== null && consoleMs >= notAfterMs) {
    return `${OFF_BY} ${span(Math.abs(consoleMs - nowMs))}, ahead of this node's: ${TAKES} expired`;
  }
  const leastMs = Math.min(nowMs - notBeforeMs, notAfterMs - nowMs);
  if (leastMs <= 0)
    return `a clock is wrong, this node's or the Console's: the Console takes this node's certificate for expired or not yet valid`;
  return `${OFF_BY} at least ${span(leastMs)}: ${TAKES} expired or not yet valid`;
}

const OFF_BY = "the Console's clock is off by";
const TAKES = "it takes this node's certificate for";
