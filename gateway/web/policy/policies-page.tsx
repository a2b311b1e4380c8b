// Policies of the fleet: packs and their versions, who has which, what is on its way, what drifts, and the keys.
import { Link, Outlet } from '@tanstack/react-router';
import { PageFrame } from '../design/page.tsx';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const PARTS = [
  ['/policies/packs', TEXTS.packs],
  ['/policies/assignments', TEXTS.assignments],
  ['/policies/rollouts', TEXTS.rollouts],
  ['/policies/drift', TEXTS.drift],
  ['/policies/library', TEXTS.library],
  ['/policies/keys', TEXTS.keys],
] as const;

export function PoliciesPage() {
  return (
    <PageFrame title={TEXTS.title}>
      <nav className="fs-tabs" aria-label={TEXTS.parts}>
        {PARTS.map(([to, label]) => (
          <Link key={to} to={to} className="fs-tab">
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </PageFrame>
  );
}
