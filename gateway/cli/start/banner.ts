// What a person sees when `npm start` is ready: where, how to look, how to add a node, and which addresses are open.
import { foldLine } from '../../operator-plane/trust/enroll-line.ts';
import type { Terminal } from '../plumbing/terminal.ts';

const COLUMNS = 80;
const HEAD_COLUMNS = 15;

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
  /** What enrols a node, and whether another one reaches the address in it. */
  readonly enroll: { readonly line: string; readonly isForOthers: boolean };
  /** What nobody should have to look for. */
  readonly notices: readonly string[];
  /** How this program is called from any folder. */
  readonly program: string;
};

/** The banner, in lines; colours only where the terminal wants them. */
export function bannerOf(facts: BannerFacts, pc: Terminal['colors']): string {
  // What is too long for a row stands alone from the first column on, so that no terminal breaks it.
  const row = (name: string, value: string) =>
    HEAD_COLUMNS + value.length <= COLUMNS
      ? `  ${pc.dim(name.padEnd(12))} ${value}`
      : `  ${pc.dim(name)}\n${value}`;
  const everywhere = facts.bind === '0.0.0.0' || facts.bind === '::';
  const open = everywhere
    ? `every address of this machine, port ${facts.port}`
    : `${facts.bind}, port ${facts.port} only`;
  const lines = [
    '',
    `  ${pc.bold('Fleet Runtime Security')} ${facts.version}`,
    '',
    row('Console', facts.url),
    row('Open on', open),
    row('CA SHA-256', facts.caFingerprint.replaceAll(':', '').toLowerCase()),
    row('API key in', facts.contextFile),
    ...adminRows(facts, row),
    row('Data', facts.dataDir),
    row('Evaluation', 'no second factor is asked here; `serve` asks for one'),
    row('Sensor', facts.sensor === null ? 'none (--no-sensor)' : facts.sensor.stateDir),
    ...facts.notices.flatMap((text) => ['', ...noticeRows(text)]).map((line) => pc.yellow(line)),
    '',
    `  ${pc.bold('In a second terminal')}`,
    `    ${facts.program} sensors list`,
    `    ${facts.program} events tail`,
    '',
    `  ${pc.bold('Enrol another node')}: make a token here`,
    `    ${facts.program} tokens create`,
    ...enrolRows(facts),
    '',
    `  ${pc.dim('Ctrl-C stops everything in order.')}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

// From the first column on, so that it can be copied as it stands.
function enrolRows({ enroll }: BannerFacts): readonly string[] {
  const line = foldLine(enroll.line, COLUMNS);
  if (enroll.isForOthers) return ['  and paste this there; it asks for the token:', line];
  return [
    '  and paste this; it asks for the token. Only this machine reaches that address:',
    '  SERVICE_CONSOLE_BIND=0.0.0.0 opens the Console to others.',
    line,
  ];
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

/** A sentence over as many lines as it needs. */
export function noticeRows(text: string): readonly string[] {
  const rows: string[] = [];
  for (const word of `! ${text}`.split(' ')) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= COLUMNS) {
      rows[rows.length - 1] = `${last} ${word}`;
    } else rows.push(`  ${word}`);
  }
  return rows;
}
