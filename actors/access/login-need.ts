// What a session still lacks, as the desks ask it. decision: D63
import type { LoginNeed } from '../../machines/console/access/second-factor.rules.ts';
import type { JudgedLogin, SessionRow } from '../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../storage/ports/access/users.ts';

/** By what is known of its person now; null when the session is, or may be, full. */
export type NeedOf = (
  user: UserRow,
  session: Pick<SessionRow, 'method' | 'stage'>,
) => LoginNeed | null;

/** What a login of this person was judged by; a session begins only while it is so. */
export function judgedOf({ role, mfa }: UserRow): Pick<JudgedLogin, 'role' | 'hasFactor'> {
  return { role, hasFactor: mfa.state === 'on' };
}
