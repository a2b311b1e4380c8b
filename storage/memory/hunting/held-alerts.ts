// What the reference inbox may not remove yet. decision: D130
import { takesItems } from '../../../machines/console/hunting/investigation.ts';
import type { HuntingStores } from '../../ports/hunting/stores.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';

const ALL = { limit: Number.POSITIVE_INFINITY, before: null };

/** The alerts that an investigation holds which is not closed. */
export function heldAlerts({
  investigations,
  investigationItems,
}: Pick<StoreCalls<HuntingStores>, 'investigations' | 'investigationItems'>): ReadonlySet<string> {
  const open = new Set(
    investigations
      .list(ALL)
      .filter(({ body }) => takesItems(body.standing))
      .map(({ id }) => id),
  );
  return new Set(
    investigationItems
      .list(ALL)
      .filter(({ parentId }) => parentId !== null && open.has(parentId))
      .flatMap(({ body }) => (body.what === 'alert' ? [body.alertId] : [])),
  );
}
