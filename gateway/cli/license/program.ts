// The command line `service-license`, for whoever issues licenses: make the key, sign, verify, serve. It needs nothing of
// a Console. Data on stdout, talk on stderr. decision: D34
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { openEnvelopeText, signLicense } from '../../../actors/license/envelope-signature.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { Refusal } from '../../../machines/errors.ts';
import { LICENSE_GRACE_DAYS, LICENSE_GRACE_DAYS_MAX } from '../../../machines/limits.ts';
import { payloadOfDraft, phaseOfLicense } from '../../../machines/trust/license.rules.ts';
import { LicenseDraft } from '../../../machines/wire/license.ts';
import { parserOf } from '../../../machines/wire/parse.ts';
import {
  LICENSE_FILES,
  makeLicenseKeys,
  openLicenseKey,
  openSharedSecret,
} from '../../../storage/keys/license-key.ts';
import { ed25519KeyOf } from '../../process/license-trust.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { json } from '../plumbing/output.ts';
import { programVersion } from '../plumbing/program-version.ts';
import { plain, type Terminal } from '../plumbing/terminal.ts';
import type { ReadInput } from './input.ts';
import { SIGN_PATH, startSigningService } from './signing-service.ts';

const DEFAULT_PORT = 15_484;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);
const readDraft = parserOf(LicenseDraft);

export type LicenseIo = {
  readonly terminal: Terminal;
  readonly now: () => number;
  readonly readInput: ReadInput;
  readonly logger: Logger;
  /** Ends `serve`. */
  readonly stopped: () => Promise<void>;
};
type ServeOptions = {
  readonly dir: string;
  readonly bind: string;
  readonly port: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
};

/** Runs one command line (without `node` and the script); resolves to the exit code, never rejects. */
export async function runLicenseProgram(argv: readonly string[], io: LicenseIo): Promise<number> {
  try {
    await programOf(io).parseAsync(argv.length > 0 ? argv : ['--help'], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.terminal.talk(`error: ${plain(error instanceof Error ? error.message : error)}`);
    return error instanceof CommandFailure ? error.exitCode : EXIT.failed;
  }
}

function programOf(io: LicenseIo): Command {
  const program = new Command('service-license');
  program
    .description('Fleet runtime security: issue licenses')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.terminal.out(text.trimEnd()),
      writeErr: (text) => io.terminal.talk(text.trimEnd()),
    });
  program
    .command('keygen')
    .description('make the signing key, its public key, and the shared secret of the service')
    .requiredOption('--dir <folder>', 'where the three files go')
    .action(({ dir }: { readonly dir: string }) => keygen(io, dir));
  program
    .command('sign')
    .description('sign a license payload; grace_until and issued_at may be left out')
    .argument('<file>', 'the payload as JSON; - for standard input')
    .requiredOption('--dir <folder>', 'where the key is')
    .option('--grace-days <number>', 'where grace_until is left out', String(LICENSE_GRACE_DAYS))
    .action((file: string, options: SignOptions) => signFile(io, file, options));
  program
    .command('verify')
    .description('check a license offline and tell what it says')
    .argument('<file>', 'the license; - for standard input')
    .requiredOption('--public-key <file>', 'the public key in PEM')
    .action((file: string, options: { readonly publicKey: string }) =>
      verifyFile(io, file, options.publicKey),
    );
  program
    .command('serve')
    .description(`answer POST ${SIGN_PATH}`)
    .requiredOption('--dir <folder>', 'where the key and the shared secret are')
    .option('--bind <address>', 'where to listen', '127.0.0.1')
    .option('--port <number>', 'on which port', String(DEFAULT_PORT))
    .option('--tls-cert <file>', 'certificate in PEM; needed away from loopback')
    .option('--tls-key <file>', 'its key in PEM')
    .action((options: ServeOptions) => serve(io, options));
  program
    .command('version')
    .description('the version of this program')
    .action(() => io.terminal.out(programVersion()));
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

async function keygen({ terminal }: LicenseIo, dir: string): Promise<void> {
  const made = await makeLicenseKeys(dir);
  if (!made.ok) throw new CommandFailure(EXIT.refused, made.reason);
  terminal.talk(`Made ${Object.values(LICENSE_FILES).join(', ')} in ${plain(dir)}.`);
  terminal.talk('The first and the last are secrets: keep them off the portal and off every node.');
  terminal.out(made.publicKeyPem.trimEnd());
}

type SignOptions = { readonly dir: string; readonly graceDays: string };

async function signFile(io: LicenseIo, file: string, options: SignOptions): Promise<void> {
  const { dir, graceDays: asked } = options;
  const graceDays = Number(asked);
  if (!/^\d{1,3}$/.test(asked) || graceDays > LICENSE_GRACE_DAYS_MAX) {
    const most = `from 0 to ${LICENSE_GRACE_DAYS_MAX}`;
    throw new CommandFailure(EXIT.usage, `--grace-days must be a whole number ${most}`);
  }
  const draft = readDraft(await io.readInput(file));
  if (!draft.ok) throw refusedBy(draft);
  const key = await keyOf(dir);
  const signed = signLicense(payloadOfDraft(draft.value, io.now(), graceDays), key.secretKey);
  if (!signed.ok) throw refusedBy(signed);
  io.terminal.out(json(signed.envelope));
}

async function verifyFile(io: LicenseIo, file: string, publicKeyFile: string): Promise<void> {
  const publicKey = await publicKeyOf(publicKeyFile);
  const opened = openEnvelopeText(await io.readInput(file), publicKey);
  if (!opened.ok) throw refusedBy(opened);
  io.terminal.talk('The signature is good.');
  const phase = phaseOfLicense(opened.facts, io.now());
  io.terminal.out(json({ phase, ...opened.envelope.payload }));
}

async function serve(io: LicenseIo, options: ServeOptions): Promise<void> {
  const { dir, bind, tlsCert, tlsKey } = options;
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CommandFailure(EXIT.usage, '--port must be a port');
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new CommandFailure(EXIT.usage, '--tls-cert and --tls-key need each other');
  }
  if (tlsCert === undefined && !LOOPBACK.has(bind)) {
    throw new CommandFailure(EXIT.usage, `${bind} is not loopback: give --tls-cert and --tls-key`);
  }
  const key = await keyOf(dir);
  const secret = await openSharedSecret(join(dir, LICENSE_FILES.secret));
  if (!secret.ok) throw new CommandFailure(EXIT.failed, secret.reason);
  const service = await startSigningService({
    secretKey: key.secretKey,
    sharedSecret: secret.secret,
    host: bind,
    port,
    ...(tlsCert === undefined || tlsKey === undefined
      ? {}
      : { tls: { cert: await readFile(tlsCert, 'utf8'), key: await readFile(tlsKey, 'utf8') } }),
    now: io.now,
    logger: io.logger,
  });
  io.logger.info({ bind, port: service.port }, 'signing licenses');
  await io.stopped();
  await service.close();
}

async function keyOf(dir: string) {
  const opened = await openLicenseKey(join(dir, LICENSE_FILES.privateKey));
  if (!opened.ok) throw new CommandFailure(EXIT.failed, opened.reason);
  return opened.key;
}

async function publicKeyOf(file: string): Promise<Uint8Array> {
  try {
    return ed25519KeyOf(await readFile(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.usage, `${file}: ${why}`);
  }
}

function refusedBy({ code, detail, errors = [] }: Refusal): CommandFailure {
  const places = errors.map((one) => `${one.pointer} ${one.detail}`);
  return new CommandFailure(EXIT.refused, [`${code}: ${detail}`, ...places].join('; '));
}
