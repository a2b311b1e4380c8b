// A line of the shell in a terminal of 80 columns, as a person has it: both streams are the terminal.
import { type ChildProcess, spawn } from 'node:child_process';

const COLUMNS = 80;
/** Stands for the code that erases the rest of a row. */
const ERASE = '\0';

export type Terminal = {
  readonly child: ChildProcess;
  raw(): string;
  readonly exited: Promise<number>;
};

/** Starts it. */
export function openTerminal(
  line: string,
  options: { readonly at: string; readonly env: Readonly<Record<string, string>> },
): Terminal {
  const sized = `stty cols ${COLUMNS} rows 24 -echo; ${line}`;
  const env = { TERM: 'xterm-256color', ...options.env };
  const child = spawn('script', ['-qefc', sized, '/dev/null'], {
    cwd: options.at,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let raw = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
  });
  const exited = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 128));
  });
  return { child, raw: () => raw, exited };
}

/** The environment of this process, without what would speak for or against colours. */
export function inherited(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined && !/^(NO_COLOR|FORCE_COLOR|CLICOLOR|CI$|VITEST)/.test(name),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

/** What stays on the screen: without the codes of colours, each row as it was written over last. */
export function rowsOf(raw: string): readonly string[] {
  const text = raw
    .replace(/\x1b\[1?G/g, '\r')
    .replace(/\x1b\[0?K/g, ERASE)
    .replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]/g, '');
  const rows = text.split('\n').map(rowOf);
  return rows.at(-1) === '' ? rows.slice(0, -1) : rows;
}

function rowOf(text: string): string {
  let row = '';
  for (const piece of text.split('\r')) {
    let at = 0;
    for (const character of piece) {
      if (character === ERASE) row = row.slice(0, at);
      else {
        row = row.slice(0, at).padEnd(at) + character + row.slice(at + 1);
        at += 1;
      }
    }
  }
  return row.trimEnd();
}
