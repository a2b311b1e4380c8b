// Whether a request that changes something, and carries a session, comes from the Console's own pages. The browser says
// where it begins; a header of its own, which no form can send, must be there as well. A bearer key needs neither: no
// browser sends it by itself. decision: D37; invariant: I18
import { type Refusal, refuse } from '../../machines/errors.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
export const CSRF_HEADER = 'x-service-csrf';

/**
 * Makes the judge of a request without a session, as a login is: what a browser says of where it begins counts, and a
 * program says nothing. Without it a page of somebody else could log a person in as another.
 */
export function createBeginningJudge(baseUrl: () => string): (request: Judged) => Refusal | null {
  return ({ method, headers }) => {
    if (SAFE.has(method)) return null;
    const [site, origin] = [headers['sec-fetch-site'], headers['origin']];
    const isOwn =
      site === undefined
        ? origin === undefined || origin === new URL(baseUrl()).origin
        : site === 'same-origin' || site === 'none';
    return isOwn ? null : refuse('csrf_refused', 'The request was begun by another site.');
  };
}

type Judged = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** Makes the judge; null means that the request may go on. */
export function createOriginJudge(baseUrl: () => string): (request: Judged) => Refusal | null {
  return ({ method, headers }) => {
    if (SAFE.has(method)) return null;
    if (headers[CSRF_HEADER] !== '1') {
      return refuse('csrf_refused', `This needs the header ${CSRF_HEADER}: 1.`);
    }
    const site = headers['sec-fetch-site'];
    const isOwn =
      site === undefined ? headers['origin'] === new URL(baseUrl()).origin : site === 'same-origin';
    return isOwn ? null : refuse('csrf_refused', 'The request was begun by another site.');
  };
}
