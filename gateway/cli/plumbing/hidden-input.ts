// Secrets from a person: hidden on a terminal; without one, the next line of standard input, so that they never stand in
// an argument list or an environment.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isCancel, password } from '@clack/prompts';
import { CommandFailure, EXIT } from './exit.ts';

let nextLine: (() => Promise<string>) | null = null;

/** Asks for a secret; an empty answer is an empty text. */
export async function askSecret(question: string): Promise<string> {
  if (process.stdin.isTTY !== true) {
    nextLine ??= linesOf(process.stdin);
    return nextLine();
  }
  // Talk goes to stderr: stdout holds data only.
  const { stdin: input, stderr: output } = process;
  const answer = await password({ message: question, input, output });
  if (isCancel(answer)) throw new CommandFailure(EXIT.usage, 'stopped');
  return answer;
}

/** Reads line by line, and only when asked: a pipe that stays open must not keep the program alive. */
export function linesOf(input: Readable): () => Promise<string> {
  const lines = createInterface({ input, terminal: false });
  const waiting: string[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  lines.on('line', (line) => {
    waiting.push(line);
    wake();
  });
  lines.on('close', () => {
    isOver = true;
    wake();
  });
  lines.pause();
  return async () => {
    if (waiting.length === 0 && !isOver) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      lines.resume();
      await woken;
      if (!isOver) lines.pause();
    }
    return waiting.shift() ?? '';
  };
}
