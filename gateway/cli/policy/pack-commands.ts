// `service-console packs ...`: make, check, publish, compare, assign. A folder is applied whole: what is published already
// is left alone. decision: D80
import type { Command } from 'commander';
import { signPack } from '../../../actors/runtime/policy-pack.ts';
import { diffPolicies } from '../../../machines/policy/diff.rules.ts';
import type { PackHead, SignedPack } from '../../../machines/wire/policy.ts';
import type { CheckView, PackView, VersionView } from '../../operator-plane/policy/pack-view.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { age, plain } from '../plumbing/terminal.ts';
import { allPacks, findPack, latestOf } from './find-pack.ts';
import {
  type PackFile,
  type PolicyFile,
  readPackFolder,
  readPolicyFile,
  readSigner,
} from './policy-files.ts';

type Options = Pick<SharedOptions, 'timeout'>;
type Apply = Options & { readonly file: string; readonly dryRun?: boolean; readonly key?: string };

const PACKS = (nowMs: number): View<PackView> => ({
  name: (one) => one.pack_id,
  empty: 'No packs. Make one: service-console packs apply -f FOLDER',
  columns: [
    { head: 'NAME', read: (one) => one.name },
    { head: 'ID', read: (one) => one.pack_id },
    { head: 'FLAVOR', read: (one) => one.flavor },
    { head: 'VERSION', read: (one) => String(one.latest_version ?? '-') },
    { head: 'AGE', read: (one) => age(one.created_at, nowMs) },
    { head: 'BY', wide: true, read: (one) => one.created_by },
  ],
});
const VERSIONS = (nowMs: number): View<VersionView> => ({
  name: (one) => String(one.manifest.version),
  empty: 'Nothing is published. Publish: service-console packs publish <pack>',
  columns: [
    { head: 'VERSION', read: (one) => String(one.manifest.version) },
    { head: 'POLICIES', read: (one) => String(one.manifest.policies.length) },
    { head: 'MODE', read: (one) => one.manifest.mode },
    { head: 'KEY', read: (one) => one.key_id },
    { head: 'MANIFEST', read: (one) => one.manifest_sha256.slice(0, 16) },
    { head: 'AGE', read: (one) => age(one.published_at, nowMs) },
    { head: 'BY', wide: true, read: (one) => one.published_by },
  ],
});
const CHECKS: View<CheckView> = {
  name: (one) => one.name,
  empty: 'No policy.',
  columns: [
    { head: 'POLICY', read: (one) => one.name },
    { head: 'OK', read: (one) => (one.ok ? 'yes' : 'NO') },
    { head: 'ENGINES', read: (one) => one.engines.join(',') || '-' },
    {
      head: 'WHY',
      read: (one) =>
        one.refusals.map((at) => `${at.line}:${at.column} ${at.reason}`).join('; ') || '-',
    },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const packs = program.command('packs').description('packs of policies and their versions');
  addReading(packs, io);
  addChecking(packs, io);
  addPublishing(packs, io);
}

function addReading(packs: Command, io: CommandIo): void {
  withOutput(packs.command('list').alias('ls').description('packs by name')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      printList(io.terminal, await allPacks(clientOf(io, options)), PACKS(io.now()), shown);
    },
  );

  withOutput(packs.command('get').description('one pack with its versions'))
    .argument('<pack>', 'id or name')
    .action(async (asked: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const pack = await findPack(clientOf(io, options), asked);
      if (shown.format === 'json' || shown.format === 'yaml') {
        printRecord(io.terminal, pack, PACKS(io.now()), shown);
      } else printList(io.terminal, pack.versions, VERSIONS(io.now()), shown);
    });

  withTimeout(packs.command('diff').description('what changed between two versions'))
    .argument('<pack>', 'id or name')
    .argument('<from>', 'a version')
    .argument('[to]', 'a version; the newest when absent')
    .action(async (asked: string, from: string, to: string | undefined, options: Options) => {
      const client = clientOf(io, options);
      const pack = await findPack(client, asked);
      const read = (version: string) =>
        client.get<SignedPack>(
          `/api/v2/packs/${pack.pack_id}/versions/${encodeURIComponent(version)}`,
        );
      const [before, after] = [await read(from), await read(to ?? String(latestOf(pack)))];
      for (const { name, what, lines } of diffPolicies(before.policies, after.policies)) {
        io.terminal.out(plain(`${what} ${name}`));
        for (const { sign, text } of lines) {
          if (sign !== ' ') io.terminal.out(plain(`  ${sign} ${text}`));
        }
      }
    });
}

function addChecking(packs: Command, io: CommandIo): void {
  withOutput(packs.command('check').description('judge policies as publishing would'))
    .argument('<file...>', 'NAME.yaml')
    .action(async (paths: readonly string[], options: SharedOptions) => {
      const shown = tableOptions(options);
      const policies = await Promise.all(paths.map(readPolicyFile));
      const checks = await check(clientOf(io, options), policies);
      printList(io.terminal, checks, CHECKS, shown);
      failOn(checks);
    });
}

function addPublishing(packs: Command, io: CommandIo): void {
  withTimeout(packs.command('create').description('make a pack with an empty draft'))
    .argument('<name>')
    .option('--flavor <flavor>', 'standard or telecom', 'standard')
    .action(async (name: string, options: Options & { readonly flavor: string }) => {
      const body = { name, flavor: options.flavor };
      const made = await clientOf(io, options).send<PackView>('POST', '/api/v2/packs', body);
      io.terminal.talk(plain(`The pack ${made.name} is made.`));
      io.terminal.out(made.pack_id);
    });

  withTimeout(packs.command('publish').description('sign the draft as the next version'))
    .argument('<pack>', 'id or name')
    .option('--dry-run', 'say what it would be, and keep nothing')
    .action(async (asked: string, options: Options & { readonly dryRun?: boolean }) => {
      const client = clientOf(io, options);
      const { pack_id: id } = await findPack(client, asked);
      const body = { dry_run: options.dryRun === true };
      tell(
        io,
        await client.send<VersionView>('POST', `/api/v2/packs/${id}/publish`, body),
        options,
      );
    });

  withTimeout(packs.command('apply').description('publish a folder: pack.yaml and NAME.yaml files'))
    .requiredOption('-f, --file <folder>', 'the folder')
    .option('--key <file>', 'sign here with this private key; the Console takes it as it is')
    .option('--dry-run', 'say what it would be, and keep nothing')
    .action(async (options: Apply) => {
      const client = clientOf(io, options);
      const { head, policies } = await readPackFolder(options.file);
      failOn(await check(client, policies));
      const version =
        options.key === undefined
          ? await applyAtConsole(io, client, { head, policies, isDryRun: options.dryRun === true })
          : await applySigned(client, { head, policies, options, keyFile: options.key });
      if (version !== null) tell(io, version, options);
    });
}

function tell(
  io: CommandIo,
  { manifest, manifest_sha256 }: VersionView,
  how: { readonly dryRun?: boolean },
): void {
  const verb = how.dryRun === true ? 'would be' : 'is';
  io.terminal.talk(plain(`Version ${manifest.version} of ${manifest.name} ${verb} published.`));
  io.terminal.out(manifest_sha256);
}

async function check(
  client: Client,
  policies: readonly PolicyFile[],
): Promise<readonly CheckView[]> {
  const body = { policies };
  return (await client.send<{ items: CheckView[] }>('POST', '/api/v2/packs/check', body)).items;
}

function failOn(checks: readonly CheckView[]): void {
  const [first] = checks.filter(({ ok }) => !ok);
  if (first === undefined) return;
  const [why] = first.refusals;
  const at = why === undefined ? '' : `: line ${why.line}, column ${why.column}: ${why.reason}`;
  throw new CommandFailure(EXIT.failed, `no engine can honour ${first.name}${at}`);
}

type Folder = { readonly head: PackFile; readonly policies: readonly PolicyFile[] };

async function applyAtConsole(
  io: CommandIo,
  client: Client,
  { head, policies, isDryRun }: Folder & { readonly isDryRun: boolean },
): Promise<VersionView | null> {
  const draft = { ...headOf(head), policies };
  const known = (await allPacks(client)).find(
    (one) => one.name.toLowerCase() === head.name.toLowerCase(),
  );
  if (known !== undefined && (await isPublished(client, known, draft))) {
    io.terminal.talk(
      plain(`${head.name} is published so already, as version ${known.latest_version}.`),
    );
    return null;
  }
  if (isDryRun) {
    const next = (known?.latest_version ?? 0) + 1;
    io.terminal.talk(plain(`Version ${next} of ${head.name} would be published.`));
    return null;
  }
  const body = { name: head.name, flavor: head.flavor ?? 'standard', draft };
  const pack = known ?? (await client.send<PackView>('POST', '/api/v2/packs', body));
  const at = `/api/v2/packs/${pack.pack_id}`;
  if (known !== undefined) {
    await client.send('PUT', `${at}/draft`, { revision: known.draft_revision, draft });
  }
  return client.send<VersionView>('POST', `${at}/publish`, {});
}

async function isPublished(
  client: Client,
  pack: PackView,
  draft: ReturnType<typeof headOf> & { readonly policies: readonly PolicyFile[] },
): Promise<boolean> {
  if (pack.latest_version === null) return false;
  const at = `/api/v2/packs/${pack.pack_id}/versions/${pack.latest_version}`;
  const latest = await client.get<SignedPack>(at);
  if (diffPolicies(latest.policies, draft.policies).length > 0) return false;
  return JSON.stringify(headOf(latest)) === JSON.stringify(headOf(draft));
}

async function applySigned(
  client: Client,
  given: Folder & { readonly options: Apply; readonly keyFile: string },
): Promise<VersionView> {
  const { head, policies, options, keyFile } = given;
  const { pack_id, version, name, flavor = 'standard' } = head;
  if (pack_id === undefined || version === undefined) {
    throw new CommandFailure(EXIT.usage, 'pack.yaml needs pack_id and version to be signed here');
  }
  const signed: PackHead = { pack_id, version, name, flavor, ...headOf(head) };
  const pack = signPack(signed, policies, await readSigner(keyFile));
  const body = { pack, dry_run: options.dryRun === true };
  return client.send<VersionView>('POST', '/api/v2/packs/signed', body);
}

/** What is signed beside the names, with what it is when nothing is said. */
function headOf(head: Partial<PackHead>) {
  const { mode = 'monitor', modes_allowed = ['monitor', 'enforce'] } = head;
  const { namespace_scope = null, rollback_to = [] } = head;
  return { mode, modes_allowed, namespace_scope, rollback_to };
}
