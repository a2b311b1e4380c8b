// The pack that benches of policies publish, version after version, and how they ask a Console.
import { readLibrary } from '../../gateway/policy-library/read-library.ts';
import { api } from '../journeys/api.ts';
import type { Home } from '../journeys/programs.ts';

// On every kernel this engine runs on.
const POLICIES = ['attach-to-process', 'mount-file-system', 'read-password-hashes', 'remove-logs'];

/** The body of an answer; anything but success ends the bench. */
export async function askConsole<T>(
  home: Home,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await api(home, method, `/api/v2${path}`, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

/** Makes a pack without a version; its id. */
export async function makePack(home: Home): Promise<string> {
  const body = { name: 'bench', draft: await draftOf(1) };
  const made = await askConsole<{ readonly pack_id: string }>(home, 'POST', '/packs', body);
  return made.pack_id;
}

/** Writes the draft of a version, which is another text than every other one. */
export async function writeDraft(home: Home, packId: string, version: number): Promise<void> {
  const at = `/packs/${packId}/draft`;
  const { revision } = await askConsole<{ readonly revision: number }>(home, 'GET', at);
  await askConsole(home, 'PUT', at, { revision, draft: await draftOf(version) });
}

/** Publishes the draft as this version and assigns it. */
export async function publishFor(
  home: Home,
  target: { readonly kind: 'sensor' | 'tag'; readonly id: string },
  of: { readonly packId: string; readonly version: number },
): Promise<void> {
  const { packId: pack_id, version } = of;
  await askConsole(home, 'POST', `/packs/${pack_id}/publish`, {});
  await askConsole(home, 'POST', '/assignments', { target, pack_id, version, mode: 'enforce' });
}

async function draftOf(version: number) {
  const library = (await readLibrary()).filter(({ name }) => POLICIES.includes(name));
  return {
    ...{ mode: 'enforce', modes_allowed: ['enforce'], namespace_scope: null, rollback_to: [] },
    policies: library.map(({ name, yaml }) => ({ name, yaml: `${yaml}# version ${version}\n` })),
  };
}
