// The log for a person at a terminal: what went wrong as a line of text, and nothing below a warning.
import type { Logger } from '../../../actors/runtime/logger.ts';
import { plain } from './terminal.ts';

const FIELD_MAX_CHARS = 200;
type Fields = Readonly<Record<string, unknown>>;

export type PlainLog = {
  readonly logger: Logger;
  /** While something starts or stops, what is lost on the way is told by how that ends. */
  tell(isTelling: boolean): void;
};

/** Writes warnings and errors as text, once it is told to. */
export function createPlainLog(to: { write(text: string): unknown }): PlainLog {
  let isTelling = false;
  const quiet = (): void => undefined;
  const tell =
    (word: string) =>
    (fields: Fields | string, text?: string): void => {
      if (!isTelling) return;
      const facts = typeof fields === 'string' ? [] : Object.entries(fields).map(factOf);
      const more = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
      to.write(`${word}: ${plain(text ?? fields)}${more}\n`);
    };
  const logger: Logger = {
    ...{ debug: quiet, info: quiet, warn: tell('warning'), error: tell('error') },
    child: () => logger,
  };
  return {
    logger,
    tell(wanted) {
      isTelling = wanted;
    },
  };
}

function factOf([name, value]: [string, unknown]): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const [first = ''] = text.split('\n');
  return `${name} ${plain(first.slice(0, FIELD_MAX_CHARS))}`;
}
