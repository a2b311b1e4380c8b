// A license that is near its end is told on every page, above what the page is about.
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import { Mark } from '../design/shape.tsx';
import { useMay } from '../session/session.ts';
import { SHELL_TEXTS } from './texts.ts';

const LOOK_AGAIN_MS = 300_000;
const TONES = { info: 'soon', warning: 'warn', critical: 'bad' } as const;
const QUIET: readonly string[] = ['absent', 'pending'];

export function LicenseNotice() {
  return useMay()('license:read') ? <Notices /> : null;
}

function Notices() {
  const { data } = useApi('GET /license', {}, { refetchInterval: LOOK_AGAIN_MS });
  const told = (data?.banners ?? []).filter(({ reason }) => !QUIET.includes(reason));
  return told.map(({ level, reason, text }) => (
    <p key={reason} role="status" className="fs-mark fs-wrap">
      <Mark tone={TONES[level]}>{SHELL_TEXTS.license}</Mark> {text}{' '}
      <Link to="/settings/license">{SHELL_TEXTS.toLicense}</Link>
    </p>
  ));
}
