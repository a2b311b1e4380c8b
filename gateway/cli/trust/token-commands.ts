// `service-console tokens ...`: the secret is the data on stdout, everything about it is talk.
import type { Command } from 'commander';
import { TOKEN_TTL_MAX_MS } from '../../../machines/limits.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { json, jsonLine, printList, type View } from '../plumbing/output.ts';
import { age } from '../plumbing/terminal.ts';
import { tellEnrollLine } from './enroll-line-text.ts';

const LIST_MAX = 10_000;

type Token = {
  readonly token_id: string;
  readonly kind: string;
  readonly status: string;
  readonly note: string;
  readonly sensor_id: string | null;
  readonly created_at: string;
  readonly expires_at: string;
};
type Issued = Token & { readonly secret: string; readonly enroll_command: string };
type CreateOptions = SharedOptions & { readonly note?: string; readonly ttl?: string };

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const tokens = program.command('tokens').description('enrollment tokens');

  withOutput(tokens.command('create').description('make a token that enrols one Sensor'))
    .option('--note <text>', 'what it is for')
    .option('--ttl <seconds>', 'how long it can be used')
    .action(async (options: CreateOptions) => {
      const { format } = tableOptions(options);
      const ttl =
        options.ttl === undefined
          ? {}
          : { ttl_seconds: integerOf(options.ttl, '--ttl', TOKEN_TTL_MAX_MS / 1_000) };
      const note = options.note === undefined ? {} : { note: options.note };
      const issued = await clientOf(io, options).send<Issued>('POST', '/api/v2/enrollment-tokens', {
        ...note,
        ...ttl,
      });
      if (format === 'json') return io.terminal.out(json(issued));
      if (format === 'jsonl') return io.terminal.out(jsonLine(issued));
      io.terminal.talk(`Usable once, until ${issued.expires_at}; it is not shown again.`);
      tellEnrollLine(io.terminal, issued.enroll_command);
      return io.terminal.out(issued.secret);
    });

  withOutput(tokens.command('list').alias('ls').description('list tokens, newest first'))
    .option('--limit <number>', 'at most this many', '100')
    .action(async (options: SharedOptions & { readonly limit: string }) => {
      const limit = integerOf(options.limit, '--limit', LIST_MAX);
      const shown = tableOptions(options);
      const found: Token[] = [];
      const client = clientOf(io, options);
      for await (const one of client.all<Token>('/api/v2/enrollment-tokens', {}, limit)) {
        found.push(one);
      }
      printList(io.terminal, found, viewOf(io.now()), shown);
    });

  withTimeout(tokens.command('revoke').description('make a token unusable'))
    .argument('<token-id>')
    .action(async (id: string, options: Pick<SharedOptions, 'timeout'>) => {
      const path = `/api/v2/enrollment-tokens/${encodeURIComponent(id)}`;
      const token = await clientOf(io, options).send<Token>('DELETE', path);
      io.terminal.talk(`The token is ${token.status}.`);
      io.terminal.out(token.token_id);
    });
}

function viewOf(nowMs: number): View<Token> {
  return {
    name: (token) => token.token_id,
    empty: 'No tokens. Make one: service-console tokens create',
    columns: [
      { head: 'ID', read: (token) => token.token_id },
      { head: 'KIND', read: (token) => token.kind },
      { head: 'STATUS', read: (token) => token.status },
      { head: 'NOTE', read: (token) => token.note || '-' },
      { head: 'EXPIRES', read: (token) => token.expires_at },
      { head: 'AGE', read: (token) => age(token.created_at, nowMs) },
      { head: 'SENSOR', wide: true, read: (token) => token.sensor_id ?? '-' },
    ],
  };
}
