// Which sensor came by a token: the one that was enrolled at the very instant at which the token was used.
import type { AnswerOf } from '../api/contract.ts';

type Tokens = AnswerOf<'GET /enrollment-tokens'>['items'];
type Sensors = AnswerOf<'GET /sensors'>['items'];

/** The sensor of a token; undefined while the token is unused, and when two came in the same millisecond. */
export function arrivalOf(
  tokenId: string,
  tokens: Tokens,
  sensors: Sensors,
): Sensors[number] | undefined {
  const usedAt = tokens.find((one) => one.token_id === tokenId)?.consumed_at ?? null;
  const found = sensors.filter(({ enrolled_at }) => enrolled_at === usedAt);
  return found.length === 1 ? found[0] : undefined;
}
