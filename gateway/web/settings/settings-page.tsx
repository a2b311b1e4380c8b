import { Link, Outlet } from '@tanstack/react-router';
import { PageFrame } from '../design/page.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_PARTS } from './parts.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

export function SettingsPage() {
  const may = useMay();
  return (
    <PageFrame title={TEXTS.title}>
      <nav className="fs-tabs" aria-label={TEXTS.parts}>
        {SETTINGS_PARTS.filter(([, , scope]) => may(scope)).map(([to, label]) => (
          <Link key={to} to={to} className="fs-tab">
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </PageFrame>
  );
}
