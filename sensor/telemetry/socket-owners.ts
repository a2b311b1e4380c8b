// Which process holds a socket. The kernel tells it only from the side of the process, so that asking means looking at
// descriptors, which is what makes such a list dear. So a socket is looked for once and then remembered while it is open;
// a look has a bound, goes on where the last one ended, and asks programs that held sockets before in between. A socket
// that two whole rounds did not find (of another user, of the kernel) is not looked for any more. invariant: I10
import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { orNothing, pidsOf } from './proc-entries.ts';

export type Owner = { readonly pid: number; readonly binary?: string };
export type SocketOwners = {
  /** The holders of these sockets as far as they are known; what is not asked for is forgotten. Never rejects. */
  find(inodes: readonly string[]): Promise<ReadonlyMap<string, Owner>>;
};

/** At some microseconds each. */
const LOOKS_MAX = 4_096;
const ROUNDS_MAX = 2;
const LOOKS_AT_ONCE = 256;
/** Narrower than the wire allows, so that a full list fits a heartbeat. */
const BINARY_MAX_CHARS = 256;
const SOCKET = /^socket:\[(\d+)\]$/;

/** Knows nothing at first. */
export function createSocketOwners(proc = '/proc', looksMax: number = LOOKS_MAX): SocketOwners {
  const owners = new Map<string, Owner>();
  /** Sockets nobody was found for, with the number of the round in which they were first missed. */
  const missed = new Map<string, number>();
  /** Processes that this round has not looked at yet, the youngest last. */
  let round: number[] = [];
  let rounds = 0;

  const isWanted = (inode: string): boolean =>
    !owners.has(inode) && rounds - (missed.get(inode) ?? rounds) < ROUNDS_MAX;

  /** A process that ended or became another program holds its sockets no more, or under another name. */
  function forgetGone(inodes: ReadonlySet<string>): void {
    const binaries = new Map<number, string | undefined>();
    for (const [inode, { pid, binary }] of owners) {
      if (!binaries.has(pid)) binaries.set(pid, binaryOf(proc, pid));
      if (!inodes.has(inode) || binaries.get(pid) !== binary) owners.delete(inode);
    }
    for (const inode of missed.keys()) if (!inodes.has(inode)) missed.delete(inode);
  }

  /** Looks through one process; how many looks that took. Of one with more descriptors than a bound the last are not seen. */
  async function lookAt(pid: number, wanted: Set<string>): Promise<number> {
    const all = orNothing(() => readdirSync(`${proc}/${pid}/fd`)) ?? [];
    const names = all.slice(0, looksMax);
    let owner: Owner | undefined;
    for (const [at, name] of names.entries()) {
      // The reading is synchronous, as that is cheapest; other work comes in between.
      if (at % LOOKS_AT_ONCE === LOOKS_AT_ONCE - 1) await nextTurn();
      const link = orNothing(() => readlinkSync(`${proc}/${pid}/fd/${name}`)) ?? '';
      const inode = SOCKET.exec(link)?.[1];
      if (inode === undefined || !wanted.delete(inode)) continue;
      owner ??= ownerOf(proc, pid);
      owners.set(inode, owner);
      missed.delete(inode);
      if (wanted.size === 0) break;
    }
    return 1 + names.length;
  }

  async function search(wanted: Set<string>): Promise<void> {
    const before = [...new Set([...owners.values()].map(({ pid }) => pid))];
    let [looks, pause] = [0, LOOKS_AT_ONCE];
    for (let turn = 0; wanted.size > 0 && looks < looksMax; turn += 1) {
      // By turns, so that the round goes on whatever the programs of before hold.
      const pid = (turn % 2 === 1 ? before.pop() : undefined) ?? nextOfRound();
      if (pid === undefined) return;
      looks += await lookAt(pid, wanted);
      if (looks < pause) continue;
      pause = looks + LOOKS_AT_ONCE;
      await nextTurn();
    }
  }

  /** Undefined when the round is over; the next look begins another. */
  function nextOfRound(): number | undefined {
    const pid = round.pop();
    if (pid !== undefined && round.length === 0) rounds += 1;
    return pid;
  }

  return {
    async find(inodes) {
      forgetGone(new Set(inodes));
      const wanted = new Set(inodes.filter(isWanted));
      if (wanted.size > 0) {
        if (round.length === 0) round = pidsOf(proc);
        for (const inode of wanted) if (!missed.has(inode)) missed.set(inode, rounds);
        await search(wanted);
      }
      return owners;
    },
  };
}

function ownerOf(proc: string, pid: number): Owner {
  const binary = binaryOf(proc, pid);
  return binary === undefined ? { pid } : { pid, binary };
}

function binaryOf(proc: string, pid: number): string | undefined {
  return orNothing(() => readlinkSync(`${proc}/${pid}/exe`))?.slice(0, BINARY_MAX_CHARS);
}
