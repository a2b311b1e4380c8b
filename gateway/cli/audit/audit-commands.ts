// `service-console audit ...`: the trail to read, to keep, and to check.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { OPERATOR_EXPORT_ROWS_MAX } from '../../../machines/limits.ts';
import {
  type Trail,
  type TrailVerdict,
  tellFault,
} from '../../../machines/trust/audit-trail.rules.ts';
import { AUDIT_CSV_HEAD, auditCsvLine } from '../../operator-plane/audit/audit-export.ts';
import type { AuditItem, CheckpointItem } from '../../operator-plane/audit/audit-view.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { formatOf, json, jsonLine, printList, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';
import { readTrailFile, readTrailOf, verifyTrail } from './audit-verify.ts';

const EXPORT_FORMATS = ['jsonl', 'csv'] as const;
const VERDICT_FORMATS = ['text', 'json'] as const;

type FilterOptions = SharedOptions & {
  readonly since?: string;
  readonly until?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly result?: string;
};
type VerifyOptions = SharedOptions & {
  readonly key: readonly string[];
  readonly checkpoint: readonly string[];
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const audit = program
    .command('audit')
    .description('who did what, and whether the trail is whole');

  filtered(withOutput(audit.command('list').alias('ls').description('entries, newest first')))
    .option('--limit <number>', 'at most this many', '100')
    .action(async (options: FilterOptions & { readonly limit: string }) => {
      const limit = integerOf(options.limit, '--limit', OPERATOR_EXPORT_ROWS_MAX);
      const shown = tableOptions(options);
      const found: AuditItem[] = [];
      const query = filterOf(options);
      for await (const one of clientOf(io, options).all<AuditItem>('/api/v2/audit', query, limit)) {
        found.push(one);
      }
      printList(io.terminal, found, VIEW, shown);
    });

  filtered(withOutput(audit.command('export'), EXPORT_FORMATS))
    .description('the trail as JSON lines or CSV; JSON lines without a filter can be verified')
    .action((options: FilterOptions) => exportTrail(io, options));

  withOutput(audit.command('verify'), VERDICT_FORMATS)
    .description(
      'compute the chain again, from a file that `audit export` wrote (offline) or, without one, from the Console',
    )
    .argument('[file]', 'JSON lines of `audit export`, or of GET /api/v2/audit')
    .option(
      '--key <file>',
      'public key that may have signed (keys/audit-checkpoint.pub.pem of each Console); unless given, the keys in the trail are believed',
      collect,
      [],
    )
    .option('--checkpoint <sequence:hash>', 'a checkpoint from a log of the Console', collect, [])
    .action(async (file: string | undefined, options: VerifyOptions) => {
      const format = formatOf(options.output, VERDICT_FORMATS);
      const anchors = {
        keyPems: options.key.map((one) => readKey(one)),
        logged: options.checkpoint.map(checkpointOption),
      };
      const trail = await trailOf(io, file, options);
      const verdict = verifyTrail(trail, anchors);
      if (format === 'json') io.terminal.out(json(verdict));
      else tellVerdict(io, verdict, anchors.keyPems.length > 0);
      if (!verdict.isIntact) {
        throw new CommandFailure(EXIT.failed, 'the audit trail is damaged');
      }
    });
}

async function exportTrail(io: CommandIo, options: FilterOptions): Promise<void> {
  const format = formatOf(options.output, EXPORT_FORMATS);
  const client = clientOf(io, options);
  const query = filterOf(options);
  const isWhole = Object.values(query).every((value) => value === undefined);
  const max = OPERATOR_EXPORT_ROWS_MAX;
  if (format === 'csv' && options.headers) io.terminal.out(AUDIT_CSV_HEAD);
  if (format === 'jsonl' && isWhole) {
    for await (const one of client.all<CheckpointItem>('/api/v2/audit/checkpoints', {}, max)) {
      io.terminal.out(jsonLine(one));
    }
  }
  const asked = { ...query, order: 'chain' };
  for await (const one of client.all<AuditItem>('/api/v2/audit', asked, max)) {
    io.terminal.out(format === 'csv' ? auditCsvLine(one) : jsonLine(one));
  }
}

function filtered(command: Command): Command {
  return command
    .option('--since <time>', 'RFC 3339 or relative, like 1h')
    .option('--until <time>', 'RFC 3339 or relative, like 10m')
    .option('--actor <name>', 'only what this one did')
    .option('--action <name>', 'only this action, like sensor.revoke')
    .option('--target <id>', 'only what was done to this')
    .option('--result <result>', 'only with this result, like ok');
}

function filterOf(options: FilterOptions) {
  const { actor, action, target, result } = options;
  return {
    ...{ actor, action, target, result },
    from: timeOf(options.since),
    to: timeOf(options.until),
  };
}

/** `1h` means an hour ago; anything else goes to the Console as it is. */
function timeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{1,6}[smhdw]$/.test(text) ? `now-${text}` : text;
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CommandFailure(EXIT.usage, `--key ${file} cannot be read`);
  }
}

function checkpointOption(text: string) {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (sequence === undefined || hash === undefined) {
    throw new CommandFailure(EXIT.usage, `--checkpoint ${text} is not <sequence>:<hash>`);
  }
  return { sequence: Number(sequence), hash };
}

async function trailOf(
  io: CommandIo,
  file: string | undefined,
  options: VerifyOptions,
): Promise<Trail> {
  if (file === undefined) return readTrailOf(clientOf(io, options), OPERATOR_EXPORT_ROWS_MAX);
  try {
    return await readTrailFile(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.usage, `${file} cannot be read: ${why}`);
  }
}

function tellVerdict(io: CommandIo, verdict: TrailVerdict, isPinned: boolean): void {
  const { out, talk } = io.terminal;
  const { sealedRows, signedRows, openTail, head } = verdict;
  out(`${verdict.isIntact ? 'intact' : 'damaged'}: ${sealedRows} sealed rows`);
  out(`signed up to row ${signedRows}; open tail: ${openTail} rows`);
  if (sealedRows > 0) out(`head: ${head.sequence}:${head.hash}`);
  for (const key of verdict.keys) out(`key: ${key}`);
  for (const fault of verdict.faults) out(plain(tellFault(fault)));
  for (const line of verdict.unreadable) out(`line ${line} is neither a row nor a checkpoint`);
  if (!isPinned && verdict.keys.length > 0) {
    talk('The keys were taken from the trail itself; --key names the ones to believe.');
  }
}

const VIEW: View<AuditItem> = {
  name: (item) => String(item.audit_id),
  empty: 'No entries match.',
  columns: [
    { head: 'TIME', read: (item) => item.at },
    { head: 'ACTOR', read: (item) => item.actor },
    { head: 'ACTION', read: (item) => item.action },
    { head: 'TARGET', read: (item) => item.target || '-' },
    { head: 'RESULT', read: (item) => item.result },
    { head: 'FROM', read: (item) => item.from ?? '-' },
    { head: 'BEFORE', wide: true, read: (item) => shortOf(item.before) },
    { head: 'AFTER', wide: true, read: (item) => shortOf(item.after) },
    { head: 'DETAIL', wide: true, read: (item) => shortOf(item.detail) },
    { head: 'SEQUENCE', wide: true, read: (item) => String(item.sequence ?? '-') },
  ],
};

function shortOf(facts: Readonly<Record<string, unknown>> | null): string {
  return facts === null || Object.keys(facts).length === 0 ? '-' : JSON.stringify(facts);
}
