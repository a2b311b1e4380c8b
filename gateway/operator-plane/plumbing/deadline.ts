// A question to a store ends after its time: the caller hears 504 instead of waiting.
import { SEARCH_TIMEOUT_MS } from '../../../machines/limits.ts';
import { QuestionTimedOut } from './problem-reply.ts';

/** The answer, or QuestionTimedOut. The store's own work may still run to its end. */
export async function withinDeadline<T>(
  question: Promise<T>,
  limitMs: number = SEARCH_TIMEOUT_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new QuestionTimedOut(`No answer within ${limitMs} ms; narrow the question.`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([question, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
