// Keeps Tetragon's policies equal to those that are wanted, through its service. A changed policy is loaded under a name
// beside its own before the old version goes, so that nothing is unwatched in between and a bad version changes nothing.
// What Tetragon accepted is kept as files that it loads by itself at its next start. decision: D46
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type PolicyText, readPolicy, renamed } from './policy-text.ts';
import type { CallResult, PolicyStatus, TetragonService } from './service.ts';

export type WantedPolicy =
  | { readonly ok: true; readonly policy: PolicyText }
  /** A file that is not taken; what is in force under its name stays. */
  | { readonly ok: false; readonly name: string; readonly reason: string };
export type PolicyState = {
  readonly name: string;
  readonly state: string;
  readonly counts: PolicyStatus['counts'];
};
export type PolicyKeeper = {
  /** Takes one step towards what is wanted; answers how each wanted policy stands. One call at a time. Never rejects. */
  readonly converge: (wanted: readonly WantedPolicy[]) => Promise<readonly PolicyState[]>;
};

const ENABLED = 'TP_STATE_ENABLED';
const BROKEN = ['TP_STATE_LOAD_ERROR', 'TP_STATE_ERROR', 'TP_STATE_DISABLED'];
const SUFFIX = '-next';

/** Makes the keeper of one run of Tetragon. `tell` hears what was refused, with the reason. */
export async function createPolicyKeeper(options: {
  readonly service: TetragonService;
  /** What Tetragon loads when it starts; ours alone. */
  readonly startDir: string;
  readonly tell: (problem: string) => void;
}): Promise<PolicyKeeper> {
  const { service, startDir, tell } = options;
  const inForce = await readStartFiles(startDir);
  /** Texts that were refused, so that they are not tried again and again. */
  const refused = new Map<string, string>();
  /** Files that are not taken, with what was told of them. */
  let untaken = new Map<string, string>();
  /** Copies under another name that stand in for a policy. */
  const standIns = new Set<string>();

  async function enter(policy: PolicyText): Promise<void> {
    const id = idOf(policy);
    inForce.set(id, policy);
    refused.delete(id);
    const beside = path.join(path.dirname(startDir), 'policy.new');
    await writeFile(beside, policy.yaml, { mode: 0o600 });
    await rename(beside, startFile(startDir, id));
  }

  async function leave(id: string): Promise<void> {
    inForce.delete(id);
    await rm(startFile(startDir, id), { force: true });
  }

  function refuse(policy: PolicyText, reason: string): void {
    refused.set(idOf(policy), policy.yaml);
    tell(`policy ${idOf(policy)} is refused: ${reason.slice(0, 400)}`);
  }

  async function add(policy: PolicyText): Promise<void> {
    const added = await service.add(policy.yaml);
    if (added.ok) await enter(policy);
    else {
      await service.remove(policy);
      refuse(policy, added.reason);
    }
  }

  async function replace(policy: PolicyText): Promise<void> {
    const copy = { name: `${policy.name}${SUFFIX}`, namespace: policy.namespace };
    await service.remove(copy);
    const tried = await service.add(renamed(policy, copy.name));
    if (!tried.ok) {
      await service.remove(copy);
      refuse(policy, tried.reason);
      return;
    }
    const removed = await service.remove(policy);
    const added = removed.ok ? await service.add(policy.yaml) : removed;
    if (added.ok) {
      standIns.delete(idOf(copy));
      await service.remove(copy);
      await enter(policy);
    } else {
      // The new version is in force under the name of its copy; that one stays until the next start.
      standIns.add(idOf(copy));
      await leave(idOf(policy));
      refuse(policy, added.reason);
    }
  }

  async function settle(policy: PolicyText, live: PolicyStatus | undefined): Promise<void> {
    const id = idOf(policy);
    const known = inForce.get(id);
    if (refused.get(id) === policy.yaml) return;
    if (live === undefined) return await add(policy);
    if (BROKEN.includes(live.state)) {
      await service.remove(policy);
      return await add(policy);
    }
    if (known?.yaml === policy.yaml) return;
    const isModeOnly = known?.rest === policy.rest && known.mode !== policy.mode;
    const changed: CallResult<null> = isModeOnly
      ? await service.setMode(policy, policy.mode)
      : { ok: false, reason: 'more than the mode is another' };
    if (changed.ok) await enter(policy);
    else await replace(policy);
  }

  async function converge(wanted: readonly WantedPolicy[]): Promise<readonly PolicyState[]> {
    const listed = await service.list();
    if (!listed.ok) return [];
    const live = new Map(listed.value.map((one) => [idOf(one), one]));
    const policies = new Map<string, PolicyText>();
    const held = new Map<string, string>();
    for (const one of wanted) {
      if (one.ok) policies.set(idOf(one.policy), one.policy);
      else held.set(one.name, one.reason);
    }
    tellUntaken(held);
    for (const [id, policy] of policies) await settle(policy, live.get(id));
    for (const [id, one] of live) {
      if (policies.has(id) || standIns.has(id) || held.has(one.name)) continue;
      await service.remove(one);
      await leave(id);
    }
    const after = await service.list();
    const listedNow = after.ok ? after.value : [];
    const now = new Map(listedNow.map((one) => [idOf(one), one]));
    const states: PolicyState[] = [];
    for (const name of held.keys()) {
      const before = listedNow.find((one) => one.name === name);
      states.push({ name, state: stateOf(before, true), counts: before?.counts ?? {} });
    }
    for (const [id, policy] of policies) {
      const { name } = policy;
      const state = stateOf(now.get(id), refused.has(id));
      states.push({ name, state, counts: now.get(id)?.counts ?? {} });
    }
    return states.map(({ name, state, counts }) => ({
      name: name.slice(0, 128),
      state: state.slice(0, 32),
      counts,
    }));
  }

  function tellUntaken(held: Map<string, string>): void {
    for (const [name, reason] of held) {
      if (untaken.get(name) !== reason) tell(`policy ${name} is refused: ${reason}`);
    }
    untaken = held;
  }

  return {
    converge: (wanted) =>
      converge(wanted).catch((error: unknown) => {
        tell(`the policies cannot be kept: ${String(error)}`);
        return [];
      }),
  };
}

/** Empties what Tetragon loads when it starts: one bad file there keeps it from starting at all. */
export async function forgetStartFiles(startDir: string): Promise<void> {
  await rm(startDir, { recursive: true, force: true });
  await mkdir(startDir, { recursive: true, mode: 0o700 });
}

/** A refused new version leaves the old one in force, so that both are said. */
function stateOf(live: PolicyStatus | undefined, isRefused: boolean): string {
  if (live === undefined) return isRefused ? 'rejected' : 'applying';
  if (BROKEN.includes(live.state)) return 'failed';
  if (live.state !== ENABLED) return 'applying';
  const word = live.mode === 'TP_MODE_ENFORCE' ? 'enforcing' : 'monitoring';
  return isRefused ? `${word}, new one rejected` : word;
}

async function readStartFiles(startDir: string): Promise<Map<string, PolicyText>> {
  const found = new Map<string, PolicyText>();
  for (const name of await readdir(startDir).catch((): string[] => [])) {
    const reading = readPolicy(await readFile(path.join(startDir, name), 'utf8'));
    if (reading.ok) found.set(idOf(reading.policy), reading.policy);
  }
  return found;
}

function startFile(startDir: string, id: string): string {
  return path.join(startDir, `${encodeURIComponent(id)}.yaml`);
}

function idOf({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
