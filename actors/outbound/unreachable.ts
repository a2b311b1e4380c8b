// Why a destination outside could not be reached, or gave no usable answer.
import { AddressRefused } from './judged-lookup.ts';

/** Why a destination gave no usable answer. */
export type UnreachableReason =
  | 'timed_out'
  | 'unreachable'
  | 'address_refused'
  | 'answer_too_big'
  | 'failing';

/** The destination gave no usable answer: away, too slow, not trusted, or failing by its own account. */
export class DestinationUnreachable extends Error {
  override readonly name = 'DestinationUnreachable';
  readonly reason: UnreachableReason;
  constructor(message: string, reason: UnreachableReason, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export class AnswerTooBig extends Error {
  override readonly name = 'AnswerTooBig';
}

/** What an error of the network means. */
export function reasonOf(error: Error): UnreachableReason {
  if (error instanceof AddressRefused) return 'address_refused';
  if (error instanceof AnswerTooBig) return 'answer_too_big';
  return error.name === 'AbortError' || error.name === 'TimeoutError' ? 'timed_out' : 'unreachable';
}
