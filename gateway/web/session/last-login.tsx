// What happened to the own account before this login, above what the page is about until somebody has read it. Whoever finds a
// login here that was somebody else's is one click away from ending it. decision: D64
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { SinceLastLogin } from '../api/contract.ts';
import { Mark } from '../design/shape.tsx';
import { absolute } from '../design/time.tsx';
import { useSession } from './session.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

/** The session whose notice was read, in every tab of this browser. */
const READ = 'last-login-read';

export function LastLoginNotice() {
  const { session_id: id } = useSession();
  const [read, setRead] = useState(() => localStorage.getItem(READ));
  if (read === id) return null;
  const onRead = () => {
    localStorage.setItem(READ, id);
    setRead(id);
  };
  return <Notice id={id} onRead={onRead} />;
}

function Notice({ id, onRead }: { readonly id: string; readonly onRead: () => void }) {
  // What was before a session does not change any more.
  const { data } = useQuery({
    queryKey: ['GET /auth/last-login', id],
    queryFn: ({ signal }) => call('GET /auth/last-login', {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const since = data?.since_last_login ?? null;
  if (since === null) return null;
  const { last_login: last, failures, changes } = since;
  const isQuiet = failures === 0 && changes.length === 0;
  if (last === null && isQuiet) return null;
  return (
    <section className="fs-notice" aria-label={TEXTS.lastLogin}>
      <p role="status">
        <Mark tone={isQuiet ? 'soon' : 'warn'}>{TEXTS.lastLogin}</Mark>{' '}
        {last === null ? TEXTS.firstLogin : TEXTS.lastLoginAt(absolute(last.at), last.from)}{' '}
        {failures > 0 && TEXTS.failures(failures)}
      </p>
      {changes.length > 0 && (
        <ul>
          {changes.map((one) => (
            <li key={`${one.action} ${one.at}`} className="fs-break">
              {changeText(one)}
            </li>
          ))}
        </ul>
      )}
      {!isQuiet && <Link to="/account">{TEXTS.notYou}</Link>}
      <Button variant="subtle" size="compact-sm" onClick={onRead}>
        {TEXTS.lastLoginRead}
      </Button>
    </section>
  );
}

function changeText({ action, at, by, from }: SinceLastLogin['changes'][number]): string {
  const words: Readonly<Record<string, string>> = TEXTS.changes;
  return TEXTS.changed(words[action] ?? action, absolute(at), { by, from });
}
