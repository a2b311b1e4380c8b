// What a person sees when `npm start` is ready: where, how to look, how to add a node, and which addresses are open.
import type { Terminal } from '../plumbing/terminal.ts';

export type BannerFacts = {
  readonly version: string;
  readonly url: string;
  readonly bind: string;
  readonly port: number;
  readonly caFingerprint: string;
  readonly contextFile: string;
  readonly dataDir: string;
  readonly sensor: { readonly stateDir: string } | null;
  /** The password is there in the run that made the account, and never again. */
  readonly admin: { readonly email: string; readonly password: string | null } | null;
  readonly hostName: string;
};

/** The banner, in lines; colours only where the terminal wants them. */
export function bannerOf(facts: BannerFacts, pc: Terminal['colors']): string {
  const row = (name: string, value: string) => `  ${pc.dim(name.padEnd(12))} ${value}`;
  const everywhere = facts.bind === '0.0.0.0' || facts.bind === '::';
  const open = everywhere
    ? `every address of this machine, port ${facts.port}`
    : `${facts.bind}, port ${facts.port} only`;
  const lines = [
    '',
    `  ${pc.bold('Fleet Runtime Security')} ${facts.version}`,
    '',
    row('Console', pc.cyan(facts.url)),
    row('Open on', open),
    row('CA SHA-256', facts.caFingerprint),
    row('API key', `kept in ${facts.contextFile} (mode 600)`),
    ...adminRows(facts, row),
    row('Data', facts.dataDir),
    row(
      'Evaluation',
      'no second factor is asked; `serve` asks one of everybody who may change something',
    ),
    row(
      'Sensor',
      facts.sensor === null ? 'none (--no-sensor)' : `this machine, ${facts.sensor.stateDir}`,
    ),
    '',
    `  ${pc.bold('In a second terminal')}`,
    '    npx service-console sensors list',
    '    npx service-console events tail',
    '',
    `  ${pc.bold('Enrol another node')} (a checkout there; the token travels on stdin, never in arguments)`,
    `    ${enrolLine(facts)}`,
    '',
    `  ${pc.dim('Ctrl-C stops everything in order.')}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function enrolLine(facts: BannerFacts): string {
  const url = `https://${facts.hostName}:${facts.port}`;
  const fingerprint = facts.caFingerprint.replaceAll(':', '').toLowerCase();
  return `npx service-console tokens create -o name | ssh NODE 'cd CHECKOUT && npx service-sensor run --url ${url} --ca-fingerprint ${fingerprint} --token-file -'`;
}

function adminRows(
  { admin }: Pick<BannerFacts, 'admin'>,
  row: (name: string, value: string) => string,
): readonly string[] {
  if (admin === null) return [];
  const { email, password } = admin;
  if (password === null) return [row('Admin', email)];
  return [
    row('Admin', email),
    row('Password', `${password} (shown this once)`),
    row('', 'to be changed at the first login'),
  ];
}
