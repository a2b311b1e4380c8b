// What the navigation offers: whatever routes say of themselves, for whoever is logged in.
import { useRouter } from '@tanstack/react-router';
import type { Scope } from '../../../machines/trust/roles.rules.ts';
import type { IconName } from '../design/icons.tsx';
import { useMay } from '../session/session.ts';

export type Nav = {
  readonly label: string;
  readonly icon: IconName;
  /** Where it stands; from FOOT_FROM on at the foot. */
  readonly order: number;
  /** Pressed after `g`. */
  readonly key: string;
  /** What the role must hold for it to be offered. */
  readonly scope?: Scope;
};
export type NavItem = Nav & { readonly to: string };

export const FOOT_FROM = 100;

/** The items in their order. */
export function useNav(): readonly NavItem[] {
  const router = useRouter();
  const may = useMay();
  return Object.values(router.routesById)
    .flatMap((route) => {
      const nav = route.options.staticData?.nav;
      return nav === undefined ? [] : [{ ...nav, to: route.fullPath }];
    })
    .filter(({ scope }) => scope === undefined || may(scope))
    .sort((a, b) => a.order - b.order);
}
