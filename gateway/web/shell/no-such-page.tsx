import { Link } from '@tanstack/react-router';
import { Nothing } from '../design/states.tsx';
import { SHELL_TEXTS } from './texts.ts';

export function NoSuchPage() {
  return (
    <div className="fs-page">
      <Nothing title={SHELL_TEXTS.noPage} action={<Link to="/">{SHELL_TEXTS.toOverview}</Link>}>
        {SHELL_TEXTS.noPageHint}
      </Nothing>
    </div>
  );
}
