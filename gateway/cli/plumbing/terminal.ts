// What reaches a terminal: data on stdout, talk on stderr, colour only where it is wanted, and never a control byte that
// came from a node.
import pc from 'picocolors';
import { escapeControls } from '../../operator-plane/plumbing/escape-controls.ts';
import type { Env } from './context-file.ts';

export type Terminal = {
  /** Data, one line. */
  out(line: string): void;
  /** Talk, one line. */
  talk(line: string): void;
  readonly isInteractive: boolean;
  /** The width of what data is written to; undefined where that is no terminal. */
  readonly columns?: number | undefined;
  readonly colors: ReturnType<typeof pc.createColors>;
};

/** The terminal of this process. */
export function processTerminal(env: Env): Terminal {
  const wantsColor =
    env['CLICOLOR_FORCE'] !== undefined && env['CLICOLOR_FORCE'] !== '0'
      ? true
      : process.stdout.isTTY === true && !env['NO_COLOR'];
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    talk: (line) => void process.stderr.write(`${line}\n`),
    columns: process.stdout.isTTY === true ? process.stdout.columns : undefined,
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    colors: pc.createColors(wantsColor),
  };
}

/** Text from a node, safe to print. */
export function plain(text: unknown): string {
  return escapeControls(text === null || text === undefined ? '-' : String(text));
}

/** How long ago, in one unit: 45s, 12m, 3h, 8d. */
export function age(at: string | null | undefined, nowMs: number): string {
  if (at === null || at === undefined) return '-';
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1_000));
  if (Number.isNaN(seconds)) return '-';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
