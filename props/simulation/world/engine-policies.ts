// What a process of a simulated engine does with policies, as the real one does: it reads the file it is given, whole or
// not at all, has in force what it can carry out of it, and says so. Each process has a set of its own, which goes with it.
import type { SimulatedDisk } from './disk.ts';
import type { PolicyInForce } from './policy-observation.ts';
import type { World } from './world.ts';

export type ProcessPolicies = {
  /** Reads the file and says what became of it; after a hang, once that is over. */
  read(): void;
  inForce(): readonly PolicyInForce[];
};
type Reader = {
  readonly process: number;
  readonly file: string;
  readonly isHanging: () => boolean;
  readonly say: (word: object) => void;
};

const FILE = /^policies 1 (\d+)\n([\s\S]*)end\n$/;
const POLICY = /^policy (\S+) (\S+) (\S+)$/gm;
/** What no kernel of this world can do. */
export const BAD_POLICY = 'bad';
/** What every second node cannot do. */
export const PICKY_POLICY = 'picky';

/** Why a node's engine does not carry out a policy, by its name; '' when it does. */
export function refusalOf(node: string, policy: string): string {
  if (policy === BAD_POLICY) return 'this kernel cannot';
  const isEven = Number(node.split('-').at(-1)) % 2 === 0;
  return policy === PICKY_POLICY && isEven ? 'this kernel has no such hook' : '';
}

type Parsed = { readonly revision: number; readonly policies: readonly PolicyInForce[] };

function parsed(text: string): Parsed | null {
  const [, revision = '', lines = ''] = FILE.exec(text) ?? [];
  if (revision === '') return null;
  const policies = [...lines.matchAll(POLICY)].map(([, name = '', mode = '', digest = '']) => ({
    ...{ name, mode, digest },
  }));
  return { revision: Number(revision), policies };
}

function wordOf(policy: PolicyInForce | null, name: string, reason: string): object {
  const good = policy?.mode === 'enforce' ? 'enforcing' : 'monitoring';
  const state = policy === null ? 'failed' : good;
  return { policy: name, state, digest: policy?.digest ?? '', reason };
}

/** What an engine that has these tried says of them, line by line. */
export function triedLines(node: string, text: string): readonly string[] {
  const { revision, policies } = parsed(text) ?? { revision: 0, policies: [] };
  const words = policies.map((one) => {
    const reason = refusalOf(node, one.name);
    return wordOf(reason === '' ? one : null, one.name, reason);
  });
  const last = { policies: policies.length, revision, reason: '' };
  return [...words, last].map((word) => JSON.stringify(word));
}

/** Of one process, which has nothing in force yet. */
export function createProcessPolicies(
  of: { readonly world: World; readonly node: string; readonly disk: SimulatedDisk },
  reader: Reader,
): ProcessPolicies {
  const { world, node, disk } = of;
  let current: readonly PolicyInForce[] = [];
  let revision = 0;

  function textOf(): string | null {
    try {
      return disk.calls.readFile(reader.file).toString();
    } catch {
      return null;
    }
  }

  /** The new one, the old one of its name where it cannot be carried out, or none. */
  function chosen(policy: PolicyInForce): PolicyInForce | null {
    if (refusalOf(node, policy.name) === '') return policy;
    return current.find(({ name }) => name === policy.name) ?? null;
  }

  return {
    inForce: () => current,
    read() {
      if (reader.isHanging()) return;
      const text = textOf();
      const file = text === null ? null : parsed(text);
      const before = JSON.stringify(current);
      const words: object[] = [];
      if (file !== null) {
        ({ revision } = file);
        const next = file.policies.map((one) => ({ one, now: chosen(one) }));
        for (const { one, now } of next) {
          words.push(wordOf(now, one.name, refusalOf(node, one.name)));
        }
        current = next.flatMap(({ now }) => (now === null ? [] : [now]));
      } else for (const one of current) words.push(wordOf(one, one.name, ''));
      if (JSON.stringify(current) !== before) {
        world.observe({
          ...{ kind: 'policies.in_force', node, process: reader.process },
          policies: current,
        });
      }
      const isTorn = text !== null && file === null;
      const reason = isTorn ? 'the set before stays in force: the file does not end' : '';
      for (const word of words) reader.say(word);
      reader.say({ policies: words.length, revision, reason });
    },
  };
}
