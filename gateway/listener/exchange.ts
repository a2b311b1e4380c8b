// One request and its one answer, as handlers see it.
import type { HttpResponse } from 'uWebSockets.js';
import type { ErrorCode } from '../../machines/errors.ts';
import type { Problem } from '../problem.ts';
import type { RequestFacts } from './http-request.ts';

export type Exchange = {
  readonly request: RequestFacts;
  readonly res: HttpResponse;
  /** Runs when the parser is done with the bytes it holds. */
  readonly afterParsing: (run: () => void) => void;
  /** `open` until answered or abandoned by the peer, `closing` while a last answer waits; only `respond` and the abort handler move it. */
  state: 'open' | 'closing' | 'answered' | 'aborted';
  /** Whether the whole body was read; an answer before that closes the connection. */
  isBodyRead: boolean;
  /** Called once when the peer goes away first; at once when it is gone already. */
  onAborted(listener: () => void): void;
  refuse(code: ErrorCode, more?: Omit<Problem, 'code' | 'requestId'>): void;
};
export type ExchangeHandler = (exchange: Exchange) => void | Promise<void>;
