// What somebody did that has to stand in the audit log, as that person knows it: asked, and done or never answered.
import type { Person, PersonParts } from './person.ts';
import type { Heard, PlaneAnswer } from './plane-client.ts';

/** Asks for something that is audited, and says what was heard of it. */
export async function heardAct(
  { world }: PersonParts,
  what: { readonly person: Person; readonly action: string; readonly target?: string },
  ask: () => Promise<Heard<PlaneAnswer>>,
): Promise<Heard<PlaneAnswer>> {
  const { person, action, target = null } = what;
  const act = world.log.size();
  world.observe({ kind: 'act.asked', act, actor: `user:${person.email}`, action, target });
  const heard = await ask();
  if (!heard.isSilent && heard.value.code === null) world.observe({ kind: 'act.done', act });
  return heard;
}
