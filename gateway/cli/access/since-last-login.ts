// What a login at the command line tells of the time before it: when and from where the account was used, what was refused
// since, and what changed about its ways in, so that somebody else's use is noticed here, too. decision: D64

import type { Static } from 'typebox';
import type { LastLogin } from '../../operator-plane/access/auth-last-login.ts';
import type { CommandIo } from '../plumbing/command-run.ts';
import { plain } from '../plumbing/terminal.ts';

export type LastLoginView = Static<typeof LastLogin>;

/** Tells it on stderr; nothing at a first login before which nothing happened. */
export function tellLastLogin(io: CommandIo, { since_last_login: since }: LastLoginView): void {
  if (since === null) return;
  const { last_login: last, failures, changes } = since;
  if (last !== null) io.terminal.talk(`Last login: ${last.at}${fromText(last.from)}.`);
  if (failures > 0) {
    const tries = failures === 1 ? 'One try was' : `${failures} tries were`;
    io.terminal.talk(`${tries} refused since then.`);
  }
  for (const { action, at, by, from } of changes) {
    io.terminal.talk(`Since then: ${plain(action)} at ${at} by ${plain(by)}${fromText(from)}.`);
  }
}

function fromText(from: string | null): string {
  return from === null ? '' : ` from ${plain(from)}`;
}
