// The same for what is judged of the task itself: its program, its number, its namespaces; and several things together.
import { readlinkSync } from 'node:fs';
import path from 'node:path';
import {
  type Call,
  numbers,
  type Place,
  type Row,
  type Selector,
  says,
  type Value,
  value,
  type Who,
} from './operator-rows.ts';

export const PERL = '/usr/bin/perl';
export const only = (call: string, number: number): Place => ({
  call,
  number,
  mark: 0,
  wordsOf: (_words, mark) => [mark],
});
const BINARIES = only('getsid', 124);
const PIDS = only('getpgid', 121);
const NAMESPACES_HOST = only('sched_get_priority_max', 146);
const NAMESPACES_NUMBER = only('sched_get_priority_min', 147);
const TWO: Place = {
  ...numbers('mincore', 27),
  mark: 2,
  wordsOf: (words, mark) => [...words, mark],
};

const COPY: Call = { who: 'copy', words: [] };
const PLAIN: Call = { who: 'plain', words: [] };
const INSIDE: Call = { who: 'inside', words: [] };

export const binaryRows = (directory: string): Row[] => {
  const copy = path.join(directory, 'copy');
  const many = Array.from({ length: 7 }, (_, at) => `/nowhere/${at}`);
  const rows: readonly (readonly [string, string[], Call, Call])[] = [
    ['In', [...many, copy], COPY, PLAIN],
    ['NotIn', [...many, copy], PLAIN, COPY],
    ['Prefix', [`${directory}/`], COPY, PLAIN],
    ['NotPrefix', [`${directory}/`], PLAIN, COPY],
    ['Postfix', ['/copy'], COPY, PLAIN],
    ['NotPostfix', ['/copy', '/other'], PLAIN, COPY],
  ];
  return rows.map(([operator, values, fits, other]) => ({
    what: says('matchBinaries', operator, values.length),
    place: BINARIES,
    args: [],
    selector: { matchBinaries: [{ operator, values }] },
    fits,
    other,
  }));
};

export const pidRows = (pid: Readonly<Record<Who, number>>): Row[] => {
  const rows: readonly (readonly [string, number[], boolean, Call, Call])[] = [
    ['In', [pid.copy, 1], false, COPY, PLAIN],
    ['NotIn', [pid.copy, 1], false, PLAIN, COPY],
    ['In', [4_194_303, 1], true, INSIDE, PLAIN],
    ['NotIn', [1], true, PLAIN, INSIDE],
    ['In', [pid.plain, pid.copy], true, COPY, INSIDE],
  ];
  return rows.map(([operator, values, isNamespacePID, fits, other]) => ({
    what: says('matchPIDs', operator, isNamespacePID, fits.who),
    place: PIDS,
    args: [],
    selector: { matchPIDs: [{ operator, values, isNamespacePID }] },
    fits,
    other,
  }));
};

const NAMESPACE_FILES: readonly (readonly [string, string])[] = [
  ['Uts', 'uts'],
  ['Ipc', 'ipc'],
  ['Mnt', 'mnt'],
  ['Pid', 'pid'],
  ['PidForChildren', 'pid_for_children'],
  ['Net', 'net'],
  ['Time', 'time'],
  ['TimeForChildren', 'time_for_children'],
  ['Cgroup', 'cgroup'],
  ['User', 'user'],
];
export const namespaceRows = (): Row[] => {
  const row = (place: Place, values: Value[], fits: Call, ...[namespace, operator]: string[]) => ({
    what: says('matchNamespaces', namespace, operator, values),
    place,
    args: [],
    selector: { matchNamespaces: [{ namespace, operator, values }] },
    fits,
    other: fits === PLAIN ? INSIDE : PLAIN,
  });
  const numberOf = (file: string) =>
    Number(/\d+/.exec(readlinkSync(`/proc/self/ns/${file}`))?.[0] ?? 0);
  return [
    ...NAMESPACE_FILES.map(([name]) => row(NAMESPACES_HOST, ['host_ns'], PLAIN, name, 'In')),
    ...NAMESPACE_FILES.slice(0, 3).map(([name]) =>
      row(NAMESPACES_HOST, ['host_ns'], INSIDE, name, 'NotIn'),
    ),
    ...NAMESPACE_FILES.slice(3).map(([name, file]) =>
      row(NAMESPACES_NUMBER, [numberOf(file), 1, 2, 3], PLAIN, name, 'In'),
    ),
    ...NAMESPACE_FILES.slice(5).map(([name, file]) =>
      row(NAMESPACES_NUMBER, [1, 2, 3, numberOf(file)], INSIDE, name, 'NotIn'),
    ),
  ];
};

const two = (...wanted: readonly object[]): Selector => ({ matchArgs: wanted });
const IS_SEVEN = { index: 0, operator: 'Equal', values: ['7'] };
const IS_LARGE = { index: 1, operator: 'GT', values: ['100'] };
export const togetherRows = (): Row[] => [
  {
    what: 'two arguments of which both must fit, one by its place in the list',
    place: TWO,
    args: [value('uint64', 0), value('uint64', 1)],
    selector: two(IS_SEVEN, { args: [1], operator: 'GT', values: ['100'] }),
    fits: { words: [7, 101] },
    other: { words: [7, 100] },
  },
  {
    what: 'an argument and the program',
    place: TWO,
    args: [value('uint64', 0), value('uint64', 1)],
    selector: { ...two(IS_LARGE), matchBinaries: [{ operator: 'In', values: [PERL] }] },
    fits: { words: [1, 101] },
    other: { who: 'copy', words: [1, 101] },
  },
];

/** The calls of one process that gives up a capability step by step, and which of the rows each of them fits. */
