// The calls with which the operators of policies are tried on arguments: numbers, texts, buffers and files. Of each row one
// call fits and one does not.
import path from 'node:path';

const HOOKS_MAX = 16;
export type Who = 'plain' | 'copy' | 'inside';
export type Value = string | number | bigint;
/** What is called with, and by whom. */
export type Call = { readonly who?: Who; readonly words: readonly Value[] };
export type Selector = Readonly<Record<string, unknown>>;
export type Row = {
  readonly what: string;
  readonly place: Place;
  /** Beside the mark. */
  readonly args: readonly object[];
  readonly selector: Selector;
  readonly fits: Call;
  readonly other: Call;
};
/** A call that does nothing with what the rows give it, and where its mark stands: that by which a call is known. */
export type Place = {
  readonly call: string;
  readonly number: number;
  readonly mark: number;
  readonly wordsOf: (words: readonly Value[], mark: number) => readonly Value[];
};

export const numbers = (call: string, number: number): Place => ({
  call,
  number,
  mark: 2,
  wordsOf: ([value = 0], mark) => [-1, value, mark, 0],
});
const READAHEAD = numbers('readahead', 187);
const NUMBER_PLACES = [numbers('fadvise64', 221), numbers('sync_file_range', 277), READAHEAD];
const GETXATTR: Place = {
  call: 'getxattr',
  number: 191,
  mark: 3,
  wordsOf: ([text = ''], mark) => [text, hex('user.none'), 0, mark],
};
const PWRITE: Place = {
  call: 'pwrite64',
  number: 18,
  mark: 3,
  wordsOf: ([bytes = '', size = 0], mark) => [-1, bytes, size, mark],
};
const SYSLOG: Place = {
  call: 'syslog',
  number: 103,
  mark: 0,
  wordsOf: ([bytes = '', size = 0], mark) => [mark, bytes, size],
};
const TEE: Place = {
  call: 'tee',
  number: 276,
  mark: 2,
  wordsOf: ([fd = -1], mark) => [fd, -1, mark, 0],
};
const hex = (text: string) => `x${Buffer.from(text).toString('hex')}`;
const z = (text: string) => hex(`${text}\0`);

/** Type, operator, values, a number that fits, one that does not. */
const NUMBERS: readonly (readonly [string, string, Value[], Value, Value])[] = [
  ['int64', 'Equal', ['-5'], -5, 5],
  ['int64', 'Equal', ['1', '2', '3', '0x10'], 16, 10],
  ['int64', 'NotEqual', ['1', '-2'], 2, -2],
  ['int64', 'GT', ['-5'], -4, -5],
  ['int64', 'GreaterThan', ['-1'], 0, -2],
  ['int64', 'LT', ['-5'], -6, -5],
  ['int64', 'LessThan', ['0'], -1, 1],
  ['long', 'Mask', ['0x6'], 4, 9],
  ['sint64', 'InRange', ['-3:4'], -3, -4],
  ['int64', 'NotInRange', ['-3:4'], 5, 4],
  ['int64', 'NotInRange', ['1:2', '5:6'], 4, 5],
  ['uint64', 'GT', ['9223372036854775807'], -1, 1],
  ['uint64', 'LT', ['0xffffffffffffffff'], -2, -1],
  ['ulong', 'InRange', ['0x8000000000000000:0xffffffffffffffff'], -7, 7],
  ['size_t', 'NotInRange', ['0:18446744073709551614'], -1, -2],
  ['uint64', 'Mask', ['0x8000000000000000'], -1, 0x7fff_ffff],
  ['uint64', 'Equal', ['0777'], 511, 777],
  // What stands beside the low bytes of a register is the caller's to choose.
  ['int', 'Equal', ['-5'], 0x7_ffff_fffbn, 0x7_ffff_fff0n],
  ['int32', 'LT', ['0'], 0x8000_0000n, 0x8_0000_0000n],
  ['sint32', 'GT', ['-2147483648'], 0x8000_0001n, 0x8000_0000n],
  ['int', 'InRange', ['-10:-1'], -10, 0],
  ['int', 'Mask', ['0x80000000'], -1, 0x7fff_ffff],
  ['uint32', 'GT', ['2147483647'], 0x8000_0000n, 0x7fff_ffff],
  ['uint32', 'Equal', ['4294967295'], -1, 0x1_0000_0000n],
  ['uint32', 'NotEqual', ['0'], 1, 0x5_0000_0000n],
  ['int16', 'LT', ['0'], 0x8000, 0x7fff],
  ['sint16', 'Equal', ['-1'], 0xffff, 0xfffe],
  ['int16', 'NotInRange', ['-5:5'], 6, 0x1_fffb],
  ['uint16', 'InRange', ['32768:65535'], 0x1_8000, 0x1_7fff],
  ['uint16', 'LessThan', ['2'], 0x7_0001, 2],
  ['uint16', 'Mask', ['0x0100'], 0x1100, 0x1_0000],
  ['int8', 'LT', ['-1'], 0x80, 0x7f],
  ['sint8', 'Equal', ['-128'], 0x380, 0x381],
  ['int8', 'Mask', ['0x80'], -1, 0x17f],
  ['uint8', 'GT', ['127'], 0x80, 0x17f],
  ['uint8', 'NotEqual', ['255', '254'], 0xfd, 0x1ff],
  ['uint8', 'InRange', ['0:1'], 0x101, 2],
];

const LONG = 'v'.repeat(256);
/** Operator, values, a text that fits, one that does not. */
const TEXTS: readonly (readonly [string, string[], string, string])[] = [
  ['Equal', ['/no/such'], '/no/such', '/no/such2'],
  ['Equal', ['/no/such'], '/no/such', '/no/suc'],
  ['Equal', ['a', 'bb', 'ccc', 'dddd'], 'dddd', 'dddc'],
  ['NotEqual', ['/no/such', 'a'], '/no/suc', '/no/such'],
  ['Prefix', ['/no/such/'], '/no/such/thing', '/no/such'],
  ['Prefix', ['12345678'], '12345678', '12345679'],
  ['NotPrefix', ['/no/such/', 'x'], '/no/such', '/no/such/thing'],
  ['Postfix', ['.none'], 'a.none', 'a.none2'],
  ['NotPostfix', ['.none', '/none'], 'none', 'a/none'],
  ['Equal', ['ä %2F "x" -'], 'ä %2F "x" -', 'ä / "x" -'],
  ['Equal', ['-'], '-', '--'],
  ['Equal', [LONG], LONG, `${LONG}v`],
  ['Prefix', [LONG], `${LONG}v`, LONG.slice(1)],
  ['Postfix', ['p'.repeat(128)], `${LONG}${'p'.repeat(128)}`, `${LONG}${'p'.repeat(127)}`],
];
const LARGE = 'm'.repeat(3000);

export const value = (type: string, index: number) => ({ index, type });
const compared = (index: number, operator: string, values: readonly Value[]) => ({
  matchArgs: [{ index, operator, values }],
});
export const says = (name: string, ...rest: readonly unknown[]) =>
  `${name} ${rest.map((one) => String(one).slice(0, 40)).join(' ')}`;

export const numberRows = () =>
  NUMBERS.map(([type, operator, values, fits, other], at): Row => {
    const place = NUMBER_PLACES[Math.floor(at / HOOKS_MAX)] ?? READAHEAD;
    return {
      what: says(type, operator, values, '/', fits, other),
      place,
      args: [value(type, 1)],
      selector: compared(1, operator, values),
      fits: { words: [fits] },
      other: { words: [other] },
    };
  });

export const textRows = () =>
  TEXTS.map(
    ([operator, values, fits, other]): Row => ({
      what: says('string', operator, values, '/', fits, other),
      place: GETXATTR,
      args: [value('string', 0)],
      selector: compared(0, operator, values),
      fits: { words: [z(fits)] },
      other: { words: [z(other)] },
    }),
  );

/** A buffer of a known length: what stands behind it is no part of it. */
const buffer = { index: 1, type: 'char_buf', sizeArgIndex: 3 };
const written = (text: string, size: Value = Buffer.byteLength(text)) => [hex(`${text}tail`), size];
const atEnd = (text: string) => `e${Buffer.from(text).toString('hex')}`;
const BUFFERS: readonly (readonly [string, string[], Value[], Value[]])[] = [
  ['Equal', ['secret'], written('secret'), written('secre')],
  ['NotEqual', ['secret'], written('secret', 5), written('secret')],
  ['Prefix', ['secret', 'key='], written('key=1'), written('key=', 3)],
  ['NotPrefix', ['secret'], written('secre'), written('secret2')],
  ['Postfix', ['end'], written('the end'), written('the end', 6)],
  ['NotPostfix', ['end'], written('end of'), written('end')],
  // The end of a buffer is its end, and not that of what is kept of it.
  ['Postfix', ['end'], written(`${LARGE}end`), written(`${LARGE.slice(0, 1021)}end${LARGE}`)],
  ['NotPostfix', ['end'], written(`${LARGE.slice(0, 1021)}end${LARGE}`), written(`${LARGE}end`)],
  ['Prefix', ['mmm'], written(LARGE), written(`x${LARGE}`)],
  // More is claimed than there is: the call takes what is there.
  ['Prefix', ['key='], [atEnd('key=1'), 4_000], [atEnd('kez=1'), 4_000]],
];

export const bufferRows = () => [
  ...BUFFERS.map(
    ([operator, values, fits, other]): Row => ({
      what: says('char_buf', operator, values, '/', ...fits, ...other),
      place: PWRITE,
      args: [buffer],
      selector: compared(1, operator, values),
      fits: { words: fits },
      other: { words: other },
    }),
  ),
  {
    what: 'char_buf of a length that is an int, with more in its register',
    place: SYSLOG,
    args: [buffer],
    selector: compared(1, 'Equal', ['secret']),
    fits: { words: written('secret', 0x7_0000_0006n) },
    other: { words: written('secret', 0x7_0000_0005n) },
  },
];
export const fileRows = (directory: string): Row[] => {
  const opened = (name: string) => `f${Buffer.from(path.join(directory, name)).toString('hex')}`;
  const rows: readonly (readonly [string, string[], Value, Value])[] = [
    ['Equal', [path.join(directory, 'one')], opened('one'), opened('two')],
    ['NotEqual', [path.join(directory, 'one')], opened('two'), opened('one')],
    ['Prefix', [`${directory}/o`, '/nowhere'], opened('one'), opened('two')],
    ['NotPrefix', [`${directory}/o`], opened('two'), opened('one')],
    ['Postfix', ['/one'], opened('one'), opened('two')],
    ['NotPostfix', ['/one', '/three'], opened('two'), opened('one')],
    // What is not open has no path.
    ['Prefix', ['/'], opened('one'), 999],
  ];
  return rows.map(([operator, values, fits, other]) => ({
    what: says('fd', operator, values.length, other === 999),
    place: TEE,
    args: [value('fd', 0)],
    selector: compared(0, operator, values),
    fits: { words: [fits] },
    other: { words: [other] },
  }));
};
