// Every operator and every type of argument that a policy may use, judged in the kernel: of each a call that fits and is
// told, and one that does not and is not. One engine, one policy for each call; a row is one hook, named by its message.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../actors/runtime/parse-policy.ts';
import { sentenceOfRefusal } from '../../../machines/policy/located.ts';
import { compileFile, compilePolicy } from '../policy/compile-policy.ts';
import {
  type Running,
  skipReason,
  startEngine,
  stopEngine,
  type Told,
  until,
} from './engine-rig.ts';
import {
  bufferRows,
  fileRows,
  numberRows,
  type Place,
  type Row,
  textRows,
} from './operator-rows.ts';
import {
  binaryRows,
  namespaceRows,
  only,
  PERL,
  pidRows,
  togetherRows,
} from './operator-task-rows.ts';

const refused = skipReason('the operators of policies');

const CALLER = fileURLToPath(new URL('./caller.pl', import.meta.url));
const CAPABILITY_PLACE = only('getpriority', 140);
const SYS_TIME_BIT = 25;
const CAPABILITY_STEPS = {
  all: { effective: true, permitted: true, inheritable: false },
  later: { effective: false, permitted: true, inheritable: true },
  none: { effective: false, permitted: false, inheritable: false },
} as const;

/** capset of this process, with or without the one capability. */
function capset(has: (typeof CAPABILITY_STEPS)[keyof typeof CAPABILITY_STEPS]): string {
  const low = (flag: boolean) => (flag ? 1 << SYS_TIME_BIT : 0);
  const sets = [low(has.effective), low(has.permitted), low(has.inheritable), 0, 0, 0];
  const bytes = (words: readonly number[]) => Buffer.from(Uint32Array.from(words).buffer);
  return `126 x${bytes([0x2008_0522, 0]).toString('hex')} x${bytes(sets).toString('hex')}`;
}
const CAPABILITY_ROWS = ['Effective', 'Permitted', 'Inheritable'].flatMap((type) =>
  ['In', 'NotIn'].map((operator) => ({ type, operator })),
);

function policyOf(
  place: Place,
  hooks: readonly { what: string; args: readonly object[]; selector: object }[],
) {
  const kprobes = hooks.map(({ what, args, selector }) => ({
    call: `sys_${place.call}`,
    syscall: true,
    message: what,
    args: [...args, { index: place.mark, type: 'int32', label: 'mark' }],
    selectors: [selector],
  }));
  return policyWith(`judged-${place.call.replaceAll('_', '-')}`, { kprobes });
}

type Tracepoint = {
  readonly isTold: boolean;
  /** Subsystem and event. */
  readonly at: readonly [string, string];
  readonly args: readonly object[];
  readonly matchArgs?: readonly object[];
};
const renamed = (isTold: boolean, ...matchArgs: object[]): Tracepoint => ({
  isTold,
  at: ['task', 'task_rename'],
  args: [{ index: 6, type: 'string' }, { index: 7, type: 'int16' }, { index: 4 }],
  matchArgs,
});
const returned = (isTold: boolean, value: string): Tracepoint => ({
  isTold,
  at: ['syscalls', 'sys_exit_getsid'],
  args: [{ index: 5, type: 'long' }],
  matchArgs: [{ index: 5, operator: 'Equal', values: [value] }],
});
const entered = (isTold: boolean, value: string): Tracepoint => ({
  isTold,
  at: ['syscalls', 'sys_enter_getxattr'],
  args: [{ index: 5, type: 'string' }, { index: 8 }],
  matchArgs: [{ index: 5, operator: 'Postfix', values: [value] }],
});
/** A text of the kernel's own, behind a pointer. */
const pointed = (isTold: boolean, value: string): Tracepoint => ({
  isTold,
  at: ['rcu', 'rcu_utilization'],
  args: [{ index: 4, type: 'string' }],
  matchArgs: [{ index: 4, operator: 'Equal', values: [value] }],
});
const ESRCH = '-3';
const TRACEPOINTS: readonly Tracepoint[] = [
  renamed(true, { index: 6, operator: 'Equal', values: ['judged-name'] }),
  renamed(false, { index: 6, operator: 'Equal', values: ['judged-nam'] }),
  renamed(
    true,
    { index: 6, operator: 'Prefix', values: ['judged-'] },
    { index: 7, operator: 'InRange', values: ['-1000:1000'] },
  ),
  renamed(
    false,
    { index: 6, operator: 'Prefix', values: ['judged-'] },
    { index: 7, operator: 'NotInRange', values: ['-1000:1000'] },
  ),
  returned(true, ESRCH),
  returned(false, '-4'),
  entered(true, 'such/thing'),
  entered(false, 'such/things'),
  pointed(true, 'Start context switch'),
  pointed(false, 'Start context switc'),
];
/** What no kernel can carry out, and why. */
const IMPOSSIBLE: readonly (readonly [string, object])[] = [
  [
    'syscalls/lseek has 3 arguments',
    { kprobes: [{ call: 'sys_lseek', args: [{ index: 3, type: 'int' }] }] },
  ],
  [
    'syscalls/write has 3 arguments',
    { kprobes: [{ call: 'sys_write', args: [{ index: 1, type: 'char_buf', sizeArgIndex: 4 }] }] },
  ],
  [
    'task/task_rename has 8 fields',
    { tracepoints: [{ subsystem: 'task', event: 'task_rename', args: [{ index: 8 }] }] },
  ],
  [
    'a buffer can be read',
    {
      tracepoints: [
        {
          subsystem: 'rcu',
          event: 'rcu_utilization',
          args: [{ index: 4, type: 'char_buf', sizeArgIndex: 1 }],
        },
      ],
    },
  ],
  [
    'is smaller than its type',
    {
      tracepoints: [{ subsystem: 'task', event: 'task_rename', args: [{ index: 7, type: 'int' }] }],
    },
  ],
];

function policyWith(name: string, spec: object): string {
  return JSON.stringify({
    apiVersion: 'cilium.io/v1alpha1',
    kind: 'TracingPolicy',
    metadata: { name },
    spec,
  });
}

/** One policy each: what is not posted is counted by policy. */
const tracepointPolicies = () =>
  TRACEPOINTS.map(({ at: [subsystem, event], args, matchArgs }, i) =>
    policyWith(`tracepoint-${i}`, {
      tracepoints: [
        {
          subsystem,
          event,
          args,
          selectors: [{ matchArgs, matchActions: [{ action: 'NoPost' }] }],
        },
      ],
    }),
  );

function compile(text: string): string {
  const result = parsePolicy(text);
  if (!result.ok) throw new Error(result.refusals.map(sentenceOfRefusal).join('\n'));
  return compilePolicy(result.policy, 'digest');
}

async function startCaller(program: string, ...words: string[]) {
  const child = spawn(program, [...words, CALLER]);
  child.stderr.on('data', (text) => process.stdout.write(String(text)));
  const [said] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) });
  return { child, pid: Number(said) };
}

const markOf = (told: Told) => told.body.args?.find((one) => one['label'] === 'mark')?.['int_arg'];

describe.skipIf(refused !== undefined)('the operators of policies, judged in the kernel', () => {
  let directory = '';
  let engine: Running;
  let words: Record<string, unknown>[] = [];
  let rows: readonly Row[] = [];
  let told = new Set<string>();
  const callers: ChildProcessWithoutNullStreams[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'operators-'));
    for (const name of ['one', 'two']) writeFileSync(path.join(directory, name), '');
    const copied = path.join(directory, 'copy');
    copyFileSync(PERL, copied);
    const started = {
      plain: await startCaller(PERL),
      copy: await startCaller(copied),
      inside: await startCaller('unshare', '-uimpnCUT', '--fork', PERL),
      giving: await startCaller(PERL),
    };
    callers.push(...Object.values(started).map(({ child }) => child));
    const { plain, copy, inside, giving } = started;
    rows = [
      ...numberRows(),
      ...textRows(),
      ...bufferRows(),
      ...fileRows(directory),
      ...binaryRows(directory),
      ...pidRows({ plain: plain.pid, copy: copy.pid, inside: inside.pid }),
      ...namespaceRows(),
      ...togetherRows(),
    ];
    const places = [...new Set(rows.map(({ place }) => place))];
    const policies = places.map((place) =>
      policyOf(
        place,
        rows.filter((row) => row.place === place),
      ),
    );
    const capabilities = policyOf(
      CAPABILITY_PLACE,
      CAPABILITY_ROWS.map((one) => ({
        what: `${one.type} ${one.operator}`,
        args: [],
        selector: { matchCapabilities: [{ ...one, values: ['CAP_WAKE_ALARM', 'CAP_SYS_TIME'] }] },
      })),
    );
    const file = path.join(directory, 'policies');
    const impossible = IMPOSSIBLE.map(([, spec], at) => policyWith(`impossible-${at}`, spec));
    const all = [...policies, capabilities, ...tracepointPolicies(), ...impossible];
    const text = compileFile(1, all.map(compile));
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    engine = await startEngine(directory, '--policy-file', file);
    words = engine.words;
    for (const [at, { place, fits, other }] of rows.entries()) {
      for (const [which, call] of [fits, other].entries()) {
        const line = [place.number, ...place.wordsOf(call.words, markFor(at, which))].join(' ');
        started[call.who ?? 'plain'].child.stdin.write(`${line}\n`);
      }
    }
    for (const [at, has] of Object.values(CAPABILITY_STEPS).entries()) {
      if (at > 0) giving.child.stdin.write(`${capset(has)}\n`);
      giving.child.stdin.write(`${CAPABILITY_PLACE.number} ${at + 1} 0\n`);
    }
    plain.child.stdin.write(`157 15 x${Buffer.from('judged-name\0').toString('hex')} 0 0 0\n`);
    const ended = callers.map((child) => once(child, 'exit'));
    for (const child of callers) child.stdin.end();
    await Promise.all(ended);
    const lines = await until(engine.file, (all) =>
      callers.every(({ pid }) =>
        all.some(({ kind, body }) => kind === 'process_exit' && body.process.pid === pid),
      ),
    );
    const matches = lines.filter(({ kind }) => kind === 'process_kprobe');
    told = new Set(matches.map((one) => `${Reflect.get(one.body, 'message')} @${markOf(one)}`));
  });
  afterAll(async () => {
    await stopEngine(engine);
    for (const child of callers) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  const markFor = (row: number, which: number) => 1_000 + row * 2 + which;

  it('should have every policy in force that the kernel can carry out, and no other', () => {
    const states = words.filter((word) => word['policy'] !== undefined);
    const [failed, others] = [true, false].map((is) =>
      states.filter(({ policy }) => String(policy).startsWith('impossible') === is),
    );
    expect(others?.filter(({ state, reason }) => state !== 'enforcing' || reason !== '')).toEqual(
      [],
    );
    const wanted = IMPOSSIBLE.map(([reason], at) => ({
      policy: `impossible-${at}`,
      state: 'failed',
      reason: expect.stringContaining(reason),
    }));
    expect(failed?.slice(0, wanted.length)).toMatchObject(wanted);
  });

  it('should tell the call that fits and not the other', () => {
    const seen = rows.map(({ what }, at) => {
      const [fits, other] = [0, 1].map((which) => told.has(`${what} @${markFor(at, which)}`));
      return { what, fits, other };
    });
    expect(seen.filter(({ fits, other }) => !fits || other)).toEqual([]);
    expect(seen.length).toBeGreaterThan(90);
  });

  it('should judge each set of capabilities by itself', () => {
    const steps = Object.values(CAPABILITY_STEPS);
    const fitting = CAPABILITY_ROWS.flatMap(({ type, operator }) =>
      steps.flatMap((has, at) => {
        const isIn = Reflect.get(has, type.toLowerCase()) === true;
        return isIn === (operator === 'In') ? [`${type} ${operator} @${at + 1}`] : [];
      }),
    );
    const judged = [...told].filter((one) => /^(Effective|Permitted|Inheritable) /.test(one));
    expect(judged.filter((one) => /@[123]$/.test(one)).sort()).toEqual(fitting.sort());
  });

  it('should judge the fields of tracepoints', async () => {
    const counts = () =>
      TRACEPOINTS.map((_, at) => words.findLast((word) => word['policy'] === `tracepoint-${at}`));
    const deadline = Date.now() + 10_000;
    const isTold = () => counts().map((word) => Number(word?.['matched']) > 0);
    const wanted = TRACEPOINTS.map((one) => one.isTold);
    while (JSON.stringify(isTold()) !== JSON.stringify(wanted) && Date.now() < deadline)
      await wait(50);
    expect(isTold()).toEqual(wanted);
  });
});
