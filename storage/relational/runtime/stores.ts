// What Consoles of one database agree on, in PostgreSQL.
import type { RuntimeStores } from '../../ports/runtime/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createDesignation } from './designation.ts';

/** Opens every store of this capability; closing ends the tenure. */
export function openRuntimeStores(context: RelationalContext): RuntimeStores {
  const designation = createDesignation(context);
  context.onClose(() => designation.close());
  return { designation };
}
