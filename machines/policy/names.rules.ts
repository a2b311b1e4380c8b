// What a policy is called on a node, and whose it is by that. The prefix says where a file came from; what is signed is the
// policy's own name. decision: D80
import { POLICY_NAME } from '../trust/policy-signature.rules.ts';

const CUSTOM = 'custom--';
const PACK_ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const OF_PACK = new RegExp(`^(${PACK_ID})--(.*)$`);

export type PolicyPlace =
  | { readonly kind: 'pack'; readonly packId: string; readonly name: string }
  | { readonly kind: 'custom'; readonly name: string }
  | { readonly kind: 'own'; readonly name: string };

/** The name of a policy's file in `compiled-policies/`, without its ending. */
export function fileNameOf(place: PolicyPlace): string {
  if (place.kind === 'pack') return `${place.packId}--${place.name}`;
  return place.kind === 'custom' ? `${CUSTOM}${place.name}` : place.name;
}

/** Whose a file is by its name without the ending; null when that is no name of a policy. Never throws. */
export function placeOfFile(base: string): PolicyPlace | null {
  const place = placeOf(base);
  return POLICY_NAME.test(place.name) ? place : null;
}

function placeOf(base: string): PolicyPlace {
  const [, packId, name] = OF_PACK.exec(base) ?? [];
  if (packId !== undefined) return { kind: 'pack', packId, name: name ?? '' };
  if (base.startsWith(CUSTOM)) return { kind: 'custom', name: base.slice(CUSTOM.length) };
  return { kind: 'own', name: base };
}
