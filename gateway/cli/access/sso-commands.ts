// `service-console sso-providers ...`: logins through identity providers. The client secret comes from a file or from
// standard input, never from the command line, where every process of the machine could read it. decision: D40
import { type Command, Option } from 'commander';
import { SSO_KINDS } from '../../../machines/console/access/sso-provider.rules.ts';
import { ROLES } from '../../../machines/trust/roles.rules.ts';
import { readInput } from '../license/input.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/sso-providers';

type Provider = {
  readonly provider_id: string;
  readonly kind: string;
  readonly name: string;
  readonly issuer: string;
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly is_enabled: boolean;
  readonly options: {
    readonly groups_claim: string | null;
    readonly group_roles: Readonly<Record<string, string>>;
    readonly default_role: string | null;
    readonly creates_users: boolean;
    readonly domains: readonly string[];
    readonly link_domains: readonly string[];
    readonly scopes: readonly string[];
    readonly required_acr: readonly string[];
    readonly required_amr: readonly string[];
    readonly max_age_seconds: number | null;
  };
  readonly revision: number;
};
type Check = {
  readonly is_working: boolean;
  readonly detail: string;
  readonly authorization_endpoint: string | null;
};
type CreateOptions = SharedOptions & {
  readonly kind: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecretFile: string;
  readonly groupsClaim?: string;
  readonly groupRole?: readonly string[];
  readonly defaultRole?: string;
  readonly existingUsersOnly?: boolean;
  readonly domain?: readonly string[];
  readonly linkDomain?: readonly string[];
  readonly scope?: readonly string[];
  readonly caFile?: string;
  readonly proxy?: string;
} & ProofOptions;
/** What a provider has to prove of a login. */
type ProofOptions = {
  readonly requiredAcr?: readonly string[];
  readonly requiredAmr?: readonly string[];
  readonly maxAgeSeconds?: number;
};

const VIEW: View<Provider> = {
  name: (one) => one.provider_id,
  empty: 'No identity providers. Set one up: service-console sso-providers create',
  columns: [
    { head: 'ID', read: (one) => one.provider_id },
    { head: 'KIND', read: (one) => one.kind },
    { head: 'NAME', read: (one) => one.name },
    { head: 'ENABLED', read: (one) => (one.is_enabled ? 'yes' : 'no') },
    { head: 'ISSUER', read: (one) => one.issuer },
    { head: 'CLIENT', wide: true, read: (one) => one.client_id },
    { head: 'REDIRECT URI', wide: true, read: (one) => one.redirect_uri },
    { head: 'GROUPS CLAIM', wide: true, read: ({ options }) => options.groups_claim ?? '-' },
    { head: 'ROLES', wide: true, read: ({ options }) => rolesText(options) },
    { head: 'DOMAINS', wide: true, read: ({ options }) => options.domains.join(', ') || 'any' },
    { head: 'PROOF', wide: true, read: ({ options }) => proofText(options) },
    { head: 'LINKS', wide: true, read: ({ options }) => options.link_domains.join(', ') || '-' },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const providers = program
    .command('sso-providers')
    .alias('sso')
    .description('logins through identity providers');

  withOutput(providers.command('list').alias('ls').description('list identity providers')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<{ items: readonly Provider[] }>(PATH);
      printList(io.terminal, items, VIEW, shown);
    },
  );

  withOutput(providers.command('get').description('one identity provider'))
    .argument('<provider-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<Provider>(pathOf(id));
      printRecord(io.terminal, one, VIEW, shown);
    });

  addCreate(providers, io);
  addProof(providers, io);
  for (const [name, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    withTimeout(providers.command(name).description(`${name} logins through a provider`))
      .argument('<provider-id>')
      .action(async (id: string, options: Pick<SharedOptions, 'timeout'>) => {
        const client = clientOf(io, options);
        const { revision } = await client.get<Provider>(pathOf(id));
        const change = { revision, is_enabled: isEnabled };
        const one = await client.send<Provider>('PATCH', pathOf(id), change);
        io.terminal.talk(`${plain(one.name)} is ${isEnabled ? 'enabled' : 'disabled'}.`);
        io.terminal.out(one.provider_id);
      });
  }

  withTimeout(providers.command('test').description('ask a provider whether it can be used'))
    .argument('<provider-id>')
    .action(async (id: string, options: Pick<SharedOptions, 'timeout'>) => {
      const check = await clientOf(io, options).send<Check>('POST', `${pathOf(id)}/test`);
      if (!check.is_working) throw new CommandFailure(EXIT.failed, check.detail);
      io.terminal.talk(check.detail);
      io.terminal.out(plain(check.authorization_endpoint ?? ''));
    });

  withTimeout(providers.command('remove').description('remove a provider; accounts stay'))
    .argument('<provider-id>')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: Pick<SharedOptions, 'timeout'> & { yes?: boolean }) => {
      const client = clientOf(io, options);
      const { name } = await client.get<Provider>(pathOf(id));
      const what = `Whoever logs in through ${plain(name)} loses that way in`;
      await confirm(io, { what, name, ...(options.yes === undefined ? {} : { yes: options.yes }) });
      await client.send('DELETE', pathOf(id));
      io.terminal.talk(`${plain(name)} is removed.`);
      io.terminal.out(id);
    });
}

function addCreate(providers: Command, io: CommandIo): void {
  const kind = new Option('--kind <kind>', 'what it is').choices([...SSO_KINDS]);
  const role = new Option('--default-role <role>', 'role of whoever is in no mapped group');
  withProof(withOutput(providers.command('create').description('set up an identity provider')))
    .addOption(kind.makeOptionMandatory())
    .requiredOption('--name <text>', 'what people see on the login page')
    .requiredOption('--issuer <url>', 'its address, as it tells it itself')
    .requiredOption('--client-id <id>', 'what it knows this Console as')
    .requiredOption('--client-secret-file <file>', 'the secret; - for standard input')
    .option('--groups-claim <name>', 'claim that holds the groups of a person')
    .option('--group-role <group=role...>', 'role of whoever is in the group')
    .addOption(role.choices([...ROLES]))
    .option('--existing-users-only', 'make no account at the first login')
    .option('--domain <domain...>', 'only e-mail addresses of these domains')
    .option('--link-domain <domain...>', 'domains whose accounts it may take over')
    .option('--scope <scope...>', 'scopes in place of those of its kind')
    .option('--ca-file <file>', 'PEM of the CA that its certificate chains to')
    .option('--proxy <url>', 'HTTP proxy that stands between')
    .action(async (options: CreateOptions) => {
      const shown = tableOptions(options);
      const secret = (await readInput(options.clientSecretFile)).replace(/\r?\n$/, '');
      if (secret === '') throw new CommandFailure(EXIT.usage, 'the client secret is empty');
      const made = await clientOf(io, options).send<Provider>('POST', PATH, {
        kind: options.kind,
        name: options.name,
        issuer: options.issuer,
        client_id: options.clientId,
        client_secret: secret,
        options: await optionsOf(options),
      });
      io.terminal.talk(`Tell the provider to send browsers back to: ${plain(made.redirect_uri)}`);
      printRecord(io.terminal, made, VIEW, shown);
    });
}

async function optionsOf(options: CreateOptions): Promise<Record<string, unknown>> {
  const { groupsClaim, groupRole, defaultRole, domain, linkDomain, scope, caFile } = options;
  return {
    ...(groupsClaim === undefined ? {} : { groups_claim: groupsClaim }),
    ...(groupRole === undefined ? {} : { group_roles: Object.fromEntries(groupRole.map(pairOf)) }),
    ...(defaultRole === undefined ? {} : { default_role: defaultRole }),
    ...(options.existingUsersOnly === true ? { creates_users: false } : {}),
    ...(domain === undefined ? {} : { domains: domain }),
    ...(linkDomain === undefined ? {} : { link_domains: linkDomain }),
    ...(scope === undefined ? {} : { scopes: scope }),
    ...proofOf(options),
    ...(caFile === undefined ? {} : { ca_pem: await readInput(caFile) }),
    ...(options.proxy === undefined ? {} : { proxy_url: options.proxy }),
  };
}

function addProof(providers: Command, io: CommandIo): void {
  const proof = providers.command('proof').description('change what a provider has to prove');
  withProof(withOutput(proof))
    .argument('<provider-id>')
    .option('--none', 'nothing: the second factor of the account here is asked')
    .action(async (id: string, options: SharedOptions & ProofOptions & { none?: boolean }) => {
      const shown = tableOptions(options);
      const none = { required_acr: [], required_amr: [], max_age_seconds: null };
      const wanted = { ...(options.none === true ? none : {}), ...proofOf(options) };
      if (Object.keys(wanted).length === 0) {
        throw new CommandFailure(EXIT.usage, 'say what it has to prove, or --none');
      }
      const client = clientOf(io, options);
      const { revision } = await client.get<Provider>(pathOf(id));
      const change = { revision, options: wanted };
      printRecord(
        io.terminal,
        await client.send<Provider>('PATCH', pathOf(id), change),
        VIEW,
        shown,
      );
    });
}

function withProof(command: Command): Command {
  return command
    .option('--required-acr <value...>', 'acr values, one of which a login must have')
    .option('--required-amr <value...>', 'amr values, one of which a login must have')
    .option(
      '--max-age-seconds <seconds>',
      'how long ago the login at the provider may be',
      seconds,
    );
}

function seconds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommandFailure(EXIT.usage, `--max-age-seconds ${text} is no number of seconds`);
}

function proofOf({ requiredAcr, requiredAmr, maxAgeSeconds }: ProofOptions) {
  return {
    ...(requiredAcr === undefined ? {} : { required_acr: requiredAcr }),
    ...(requiredAmr === undefined ? {} : { required_amr: requiredAmr }),
    ...(maxAgeSeconds === undefined ? {} : { max_age_seconds: maxAgeSeconds }),
  };
}

function proofText(options: Provider['options']): string {
  const { required_acr: acr, required_amr: amr, max_age_seconds: age } = options;
  const parts = [...acr.map((one) => `acr=${one}`), ...amr.map((one) => `amr=${one}`)];
  return [...parts, ...(age === null ? [] : [`${age} s`])].join(', ') || '-';
}

// A group may hold an equals sign, as names in a directory do; a role cannot.
function pairOf(text: string): [group: string, role: string] {
  const at = text.lastIndexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CommandFailure(EXIT.usage, `--group-role ${text} is not group=role`);
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

function rolesText({ group_roles: roles, default_role: other }: Provider['options']): string {
  const mapped = Object.entries(roles).map(([group, role]) => `${group}=${role}`);
  return [...mapped, ...(other === null ? [] : [`others=${other}`])].join(', ') || '-';
}
