// Loaded into a program of a test (`dying.js`) before its first line: it stands between the program and its disk, its
// child processes, its requests and its database. Once a test has armed it, it counts each deed that matters, notes it, and
// ends its own process with SIGKILL before the one that was named, or in the middle of a write. The product knows nothing
// of it. `DYING_FOLDER` holds what was ordered (`armed.json`) and what was done (`trace`).
import childProcess, { type ChildProcess } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, writeSync } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import https from 'node:https';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';

type Any = (...given: unknown[]) => unknown;
/** Heartbeats come by the clock, so they are counted by themselves; a note is no step. */
type Kind = 'deed' | 'beat' | 'note';
type Order = {
  readonly nonce: string;
  readonly of: Kind;
  readonly at: number;
  readonly isTorn: boolean;
};

const folder = process.env['DYING_FOLDER'] ?? '';
/** Files whose changes are steps. What a Sensor writes all the time (status, spool) is none. */
const FILES =
  /policy-packs|assigned-pack\.json|compiled-policies|run\/policies|policy-keys\.json|policy-signing|containment\.json|dry-load/;
const REQUESTS = /^\/sensors\/(policies|heartbeat)/;
/** Of the database: what acts of operators change, inside a transaction, and the end of it. */
const TABLES = /policy_state|policy_documents|containment_orders|audit_records|pg_notify/;
/** The trail is sealed all the time, whatever operators do. */
const SEALING = /^select .*audit_records/is;
const WRITING = 0o3;

let nonce = '';
let counts: Record<Kind, number> = { deed: 0, beat: 0, note: 0 };

/** Notes what is about to be done, and dies instead when it is what was named. */
function step(of: Kind, label: string, halfDone?: () => void): void {
  const order = orderNow();
  if (order === null) return;
  if (order.nonce !== nonce) [nonce, counts] = [order.nonce, { deed: 0, beat: 0, note: 0 }];
  const isLast = of === order.of && counts[of] === order.at;
  counts[of] += 1;
  const line = { nonce, of, label, atMs: Date.now(), isLast };
  appendFileSync(join(folder, 'trace'), `${JSON.stringify(line)}\n`);
  if (!isLast) return;
  // The next life goes on.
  rmSync(join(folder, 'armed.json'));
  if (order.isTorn) halfDone?.();
  process.kill(process.pid, 'SIGKILL');
  // Nothing of this process may go on until the signal is there.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
const deed = (label: string, halfDone?: () => void): void => step('deed', label, halfDone);

function orderNow(): Order | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'armed.json'), 'utf8')) as Order;
  } catch {
    return null;
  }
}

/** Puts a function in the place of one of a module or of a class. */
function wrap<T extends object>(owner: T, name: keyof T, by: (before: Any) => Any): void {
  owner[name] = by(owner[name] as Any) as T[typeof name];
}

/** Folders in which an entry of a counted file changed since they were synced. */
const changed = new Set<string>();
const paths = new WeakMap<object, string>();

function ofFile(act: string, path: unknown, more: unknown = ''): void {
  if (!FILES.test(String(path))) return;
  if (/rename|remove/.test(act)) changed.add(dirname(String(path)));
  deed(`${act} ${nameOf(String(path))}${more === '' ? '' : ` > ${nameOf(String(more))}`}`);
}

function nameOf(path: string): string {
  return `${basename(dirname(path))}/${basename(path)}`;
}

function standBeforeDisk(): void {
  for (const [name, act] of [
    ['rename', 'rename'],
    ['rm', 'remove'],
    ['mkdir', 'make folder'],
    ['chmod', 'set mode'],
    ['writeFile', 'write whole'],
  ] as const) {
    wrap(fs, name, (before) => (...given) => {
      ofFile(act, given[0], name === 'rename' ? given[1] : '');
      return before.apply(fs, given);
    });
  }
  let isHandleKnown = false;
  wrap(fs, 'open', (before) => async (...given) => {
    const [path, flags] = given;
    const isWriting = typeof flags === 'string' ? flags !== 'r' : (Number(flags) & WRITING) !== 0;
    if (isWriting) ofFile('open', path);
    const handle = (await before.apply(fs, given)) as FileHandle;
    paths.set(handle, String(path));
    if (!isHandleKnown) standBeforeHandles(Object.getPrototypeOf(handle) as FileHandle);
    isHandleKnown = true;
    return handle;
  });
}

function standBeforeHandles(prototype: FileHandle): void {
  const stand = (
    name: 'write' | 'writeFile' | 'sync' | 'datasync',
    note: (handle: FileHandle, path: string, given: unknown) => void,
  ) =>
    wrap(
      prototype,
      name,
      (before) =>
        function (this: FileHandle, ...given) {
          note(this, paths.get(this) ?? '', given[0]);
          return before.apply(this, given);
        },
    );
  for (const name of ['write', 'writeFile'] as const) {
    stand(name, (handle, path, given) => {
      if (!FILES.test(path)) return;
      const bytes = Buffer.from(given as string);
      const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
      deed(`write ${nameOf(path)}`, () => void writeSync(handle.fd, half));
    });
  }
  for (const name of ['sync', 'datasync'] as const) {
    stand(name, (_handle, path) => {
      if (changed.delete(path) || FILES.test(path)) deed(`sync ${nameOf(path)}`);
    });
  }
}

/** The packet filter and the engine: begun, told, heard, ended. */
function standBeforePrograms(): void {
  wrap(childProcess, 'spawn', (before) => (...given) => {
    const program = basename(String(given[0]));
    const words = Array.isArray(given[1]) ? given[1].map(String) : [];
    const isTrial = words.some((word) => word.includes('dry-load'));
    const isEngine = program.startsWith('ebpf-engine');
    const name = `${program} ${isTrial ? 'on trial' : words[0] === '-f' ? 'changes' : 'reads'}`;
    const isCounted = program === 'nft' || isTrial;
    if (isCounted) deed(`begin ${name}`);
    const child = before.apply(childProcess, given) as ChildProcess;
    if (isCounted) child.prependListener('close', () => deed(`end of ${name}`));
    if (isEngine && !isTrial) standBeforeEngine(child);
    return child;
  });
}

function standBeforeEngine(child: ChildProcess): void {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) return;
  // It says so again and again; once it was told, that is the answer.
  let isTold = false;
  wrap(stdin, 'write', (before) => (...given) => {
    if (String(given[0]).startsWith('policies')) {
      deed('tell the engine');
      isTold = true;
    }
    return before.apply(stdin, given);
  });
  stdout.on('data', (text: Buffer) => {
    if (!isTold || !text.includes('{"policies":')) return;
    isTold = false;
    deed('the engine has them');
  });
}

function standBeforeRequests(): void {
  wrap(https, 'request', (before) => (...given) => {
    const path = given[0] instanceof URL ? given[0].pathname : '';
    const what = /^\/sensors\/[a-z]+/.exec(path)?.[0] ?? path;
    if (!REQUESTS.test(path)) return before.apply(https, given);
    const of = what === '/sensors/heartbeat' ? 'beat' : 'deed';
    step(of, `ask ${what}`);
    const sent = before.apply(https, given) as ReturnType<typeof https.request>;
    sent.prependListener('response', (response) => {
      step(of, `answer of ${what} begins`);
      response.prependListener('end', () => step(of, `answer of ${what} is there`));
    });
    return sent;
  });
}

function standBeforeSockets(): void {
  wrap(
    Socket.prototype,
    'connect',
    (before) =>
      function (this: unknown, ...given) {
        const to = given.flat().find((one) => typeof one === 'object' && one !== null);
        const port = to === undefined ? undefined : Reflect.get(to as object, 'port');
        if (port !== undefined) step('note', `connect ${port}`);
        return before.apply(this, given);
      },
  );
}

/** How far a connection is: nothing begun, begun, or begun and something of ours done. */
type Stage = 'outside' | 'begun' | 'ours';

function standBeforeDatabase(): void {
  const pg = createRequire(import.meta.url)('pg') as { Client: { prototype: { query: Any } } };
  const stages = new WeakMap<object, Stage>();
  /** What of a question is a step; null: nothing. */
  function stepOf(client: object, text: string): string | null {
    const stage = stages.get(client) ?? 'outside';
    const [, act = '', rest = ''] = /^\s*(\w+)(.*)/s.exec(text) ?? [];
    if (/^(begin|start)$/i.test(act)) stages.set(client, 'begun');
    else if (/^(commit|rollback)$/i.test(act)) {
      stages.set(client, 'outside');
      return stage === 'ours' ? act : null;
    } else if (stage !== 'outside' && TABLES.test(rest) && !SEALING.test(text)) {
      stages.set(client, 'ours');
      return `${act} ${TABLES.exec(rest)?.[0]}`;
    }
    return null;
  }
  wrap(
    pg.Client.prototype,
    'query',
    (before) =>
      function (this: object, ...given) {
        const what = typeof given[0] === 'string' ? stepOf(this, given[0]) : null;
        if (what === null) return before.apply(this, given);
        deed(`ask: ${what}`);
        const answer = before.apply(this, given);
        if (!(answer instanceof Promise)) return answer;
        return answer.then((rows) => {
          deed(`answered: ${what}`);
          return rows;
        });
      },
  );
}

standBeforeDisk();
standBeforePrograms();
standBeforeRequests();
standBeforeSockets();
if (process.env['DYING_PROGRAM'] === 'service-console.ts') standBeforeDatabase();
syncBuiltinESMExports();
