// `service-console policies ...`: sign and verify policies, with a key file and no Console, or by the Console's key.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { isSigned, signPolicy } from '../../../actors/runtime/policy-pack.ts';
import { diffLines } from '../../../machines/policy/diff.rules.ts';
import { POLICY_NAME } from '../../../machines/trust/policy-signature.rules.ts';
import type { SignedPack } from '../../../machines/wire/policy.ts';
import type { SigningKeysView } from '../../operator-plane/policy/signing-keys.ts';
import { type LibraryPolicy, readLibrary } from '../../policy-library/read-library.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';
import { findPack, latestOf } from './find-pack.ts';
import {
  type PolicyFile,
  readPolicyFile,
  readSidecar,
  readSigner,
  readTrusted,
  writeSidecar,
} from './policy-files.ts';

type Options = Pick<SharedOptions, 'timeout'> & { readonly key?: string };
type Key = { readonly key_id: string; readonly own: string };
const KEYS: View<Key> = {
  name: (one) => one.key_id,
  empty: 'No key is trusted.',
  columns: [
    { head: 'KEY', read: (one) => one.key_id },
    { head: 'HELD', read: (one) => one.own },
  ],
};

const LIBRARY: View<LibraryPolicy> = {
  name: (one) => one.name,
  empty: 'The library is empty.',
  columns: [
    { head: 'POLICY', read: (one) => one.name },
    { head: 'TECHNIQUE', read: (one) => one.technique },
    { head: 'WHY', read: (one) => one.why },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const policies = program.command('policies').description('sign and verify single policies');

  withTimeout(policies.command('sign').description('write FILE.sig beside each policy'))
    .argument('<file...>', 'NAME.yaml')
    .option('--key <file>', 'a private key in PEM; without it the Console signs')
    .action(async (paths: readonly string[], options: Options) => {
      const signer = options.key === undefined ? null : await readSigner(options.key);
      for (const path of paths) {
        const policy = named(await readPolicyFile(path));
        const signature =
          signer === null
            ? await signAtConsole(io, options, policy)
            : signPolicy(policy, signer).signature;
        await writeSidecar(path, signature);
        io.terminal.out(`${path}.sig`);
      }
    });

  withTimeout(policies.command('verify').description('check FILE.sig of each policy'))
    .argument('<file...>', 'NAME.yaml')
    .option('--key <file>', 'public keys in PEM; without it the keys that nodes trust')
    .action(async (paths: readonly string[], options: Options) => {
      let bad = 0;
      for (const path of paths) {
        const policy = await readPolicyFile(path);
        const signature = await readSidecar(path);
        const isGood =
          options.key === undefined
            ? await verifyAtConsole(io, options, { ...policy, signature })
            : isSigned({ ...policy, signature }, await readTrusted(options.key));
        if (!isGood) bad += 1;
        io.terminal.out(`${path}: ${isGood ? 'good' : 'NOT by these keys, this name and content'}`);
      }
      if (bad > 0) throw new CommandFailure(EXIT.failed, `${bad} of ${paths.length} do not verify`);
    });

  withTimeout(policies.command('diff').description("a policy's file against the newest version"))
    .argument('<pack>', 'id or name')
    .argument('<file>', 'NAME.yaml')
    .action(async (asked: string, path: string, options: Options) => {
      const client = clientOf(io, options);
      const policy = await readPolicyFile(path);
      const pack = await findPack(client, asked);
      const at = `/api/v2/packs/${pack.pack_id}/versions/${latestOf(pack)}`;
      const { policies: published } = await client.get<SignedPack>(at);
      const before = published.find(({ name }) => name === policy.name)?.yaml ?? '';
      for (const { sign, text } of diffLines(before, policy.yaml)) {
        if (sign !== ' ') io.terminal.out(plain(`${sign} ${text}`));
      }
    });

  withOutput(policies.command('keys').description('the keys that nodes trust')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const view = await clientOf(io, options).get<SigningKeysView>('/api/v2/signing-keys');
      const keys = view.keys.map(({ key_id }) => ({
        key_id,
        own: key_id === view.own_key_id ? 'by this Console' : 'elsewhere',
      }));
      printList(io.terminal, keys, KEYS, shown);
    },
  );
  addLibraryCommand(policies, io);
}

/** The command that shows the starter library. */
function addLibraryCommand(policies: Command, io: CommandIo): void {
  withOutput(policies.command('library').description('the starter library; --out writes its files'))
    .option('--out <dir>', 'a folder for the files; what is there is left alone')
    .action(async (options: SharedOptions & { readonly out?: string }) => {
      const library = await readLibrary();
      if (options.out === undefined) {
        printList(io.terminal, library, LIBRARY, tableOptions(options));
        return;
      }
      await mkdir(options.out, { recursive: true });
      for (const { name, yaml } of library) {
        const path = join(options.out, `${name}.yaml`);
        await writeFile(path, yaml, { flag: 'wx' });
        io.terminal.out(path);
      }
    });
}

function named(policy: PolicyFile): PolicyFile {
  if (POLICY_NAME.test(policy.name)) return policy;
  throw new CommandFailure(EXIT.usage, `${policy.name} is no name of a policy`);
}

async function signAtConsole(io: CommandIo, options: Options, policy: PolicyFile): Promise<string> {
  const path = '/api/v2/policies/sign';
  const signed = await clientOf(io, options).send<{ signature: string }>('POST', path, policy);
  return signed.signature;
}

async function verifyAtConsole(
  io: CommandIo,
  options: Options,
  policy: PolicyFile & { readonly signature: string },
): Promise<boolean> {
  const path = '/api/v2/policies/verify';
  return (await clientOf(io, options).send<{ ok: boolean }>('POST', path, policy)).ok;
}
