// Keys as people know them from Grafana and GitHub: `g` and a letter goes somewhere, `?` is help. Off inside inputs.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isTyping } from '../design/keys.ts';
import type { NavItem } from './nav.ts';

const CHORD_MS = 1_200;

/** Listens while the shell is there. */
export function useShortcuts(nav: readonly NavItem[]): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goneAt = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '?') return void navigate({ to: '/help' });
      if (event.key === 'g') {
        goneAt = event.timeStamp;
        return undefined;
      }
      const isChord = event.timeStamp - goneAt < CHORD_MS;
      goneAt = 0;
      const found = isChord ? nav.find(({ key }) => key === event.key) : undefined;
      return found === undefined ? undefined : void navigate({ to: found.to });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [nav, navigate]);
}
