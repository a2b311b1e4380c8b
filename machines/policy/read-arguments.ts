// The arguments of a hook and what they may be compared with.

import {
  bytesOf,
  type Fields,
  fieldsOf,
  itemsOf,
  needed,
  type Refuse,
  refuseFlags,
  textOf,
  wholeOf,
} from './fields.ts';
import {
  POLICY_ARGS_MAX,
  POLICY_LABEL_MAX_CHARS,
  POLICY_POSTFIX_MAX_BYTES,
  POLICY_TEXT_MAX_BYTES,
  POLICY_VALUES_MAX,
} from './limits.ts';
import type { Located } from './located.ts';
import type {
  ArgumentKind,
  ArgumentMatch,
  NumberOperator,
  PolicyArgument,
  PolicyHook,
  TextOperator,
} from './policy.ts';

/** The types of the policy language that this engine reads, and how. */
const KIND_OF_TYPE: Readonly<Record<string, ArgumentKind>> = {
  int8: 's8',
  sint8: 's8',
  uint8: 'u8',
  int16: 's16',
  sint16: 's16',
  uint16: 'u16',
  int: 's32',
  int32: 's32',
  sint32: 's32',
  uint32: 'u32',
  int64: 's64',
  sint64: 's64',
  long: 's64',
  uint64: 'u64',
  ulong: 'u64',
  size_t: 'u64',
  fd: 'fd',
  string: 'text',
  char_buf: 'bytes',
  file: 'file',
  linux_binprm: 'binprm',
  auto: 'auto',
};
/** The language's other types, which other engines read. */
const OTHER_TYPES: ReadonlySet<string> = new Set([
  ...['skb', 'sock', 'sockaddr', 'socket', 'filename', 'path', 'dentry', 'nop', 'bpf_attr'],
  ...['bpf_map', 'bpf_prog', 'bpf_cmd', 'perf_event', 'user_namespace', 'capability', 'kiocb'],
  ...['iov_iter', 'char_iovec', 'cred', 'load_info', 'module', 'syscall64', 'kernel_cap_t'],
  ...['cap_inheritable', 'cap_permitted', 'cap_effective', 'data_loc', 'net_device', 'int32_arr'],
]);
const KERNEL_KINDS: readonly ArgumentKind[] = ['file', 'binprm'];
const CALL_INDEX_MAX = 5;
const FIELD_INDEX_MAX = 63;
/** What stands where in the hooks of the LSM this engine has. */
export const LSM_HOOKS: Readonly<Record<string, ArgumentKind>> = {
  file_open: 'file',
  bprm_check_security: 'binprm',
};

/** Reads `args`; undefined when one of them is refused: nothing more is said of what is compared with it. */
export function readArguments(
  fields: Fields,
  hook: Pick<PolicyHook, 'kind' | 'event'>,
): readonly PolicyArgument[] | undefined {
  const items = itemsOf(fields.get('args'), fields.refuse, POLICY_ARGS_MAX);
  const read = items.flatMap((item) => readArgument(item, fields.refuse, hook) ?? []);
  for (const [place, { index }] of read.entries()) {
    const again = read.findIndex((other) => other.index === index) !== place;
    if (again) fields.refuse(items[place] ?? fields.at, `index ${index} stands here twice`);
  }
  return read.length === items.length ? read : undefined;
}

function readArgument(
  at: Located,
  refuse: Refuse,
  hook: Pick<PolicyHook, 'kind' | 'event'>,
): PolicyArgument | undefined {
  const fields = fieldsOf(at, refuse, {
    known: ['index', 'type', 'label', 'sizeArgIndex', 'returnCopy', 'maxData'],
    notHonoured: ['resolve', 'source', 'btfType', 'overwriteType'],
  });
  refuseFlags(fields, ['returnCopy', 'maxData']);
  const indexMax = hook.kind === 'tracepoint' ? FIELD_INDEX_MAX : CALL_INDEX_MAX;
  const index = needed(wholeOf(fields.get('index'), refuse, [0, indexMax]), fields, 'index');
  const kind = kindOf(fields, refuse, hook);
  const label = textOf(fields.get('label'), refuse, POLICY_LABEL_MAX_CHARS) ?? null;
  const sizeAt = fields.get('sizeArgIndex');
  // Counted from 1, unlike `index`, so that 0 can mean that there is none.
  const size = wholeOf(sizeAt, refuse, [1, indexMax + 1]);
  if (sizeAt !== undefined && kind !== undefined && kind !== 'bytes') {
    refuse(sizeAt, 'only a char_buf has a size');
  }
  if (kind === 'bytes' && sizeAt === undefined) refuse(at, 'a char_buf needs sizeArgIndex');
  if (index === undefined || kind === undefined) return undefined;
  return { index, kind, label, sizeIndex: size === undefined ? null : size - 1 };
}

function kindOf(
  fields: Fields,
  refuse: Refuse,
  hook: Pick<PolicyHook, 'kind' | 'event'>,
): ArgumentKind | undefined {
  const at = fields.get('type');
  if (at === undefined) {
    return hook.kind === 'tracepoint' ? 'auto' : needed<ArgumentKind>(undefined, fields, 'type');
  }
  const type = textOf(at, refuse, POLICY_LABEL_MAX_CHARS);
  if (type === undefined) return undefined;
  const kind = Object.hasOwn(KIND_OF_TYPE, type) ? KIND_OF_TYPE[type] : undefined;
  if (kind === undefined) {
    if (!OTHER_TYPES.has(type)) return refuse(at, `there is no type ${type}`);
    return refuse(at, `the ebpf engine cannot read the type ${type}`, 'engine_cannot');
  }
  if (kind === 'auto' && hook.kind !== 'tracepoint') {
    return refuse(
      at,
      'only the arguments of a tracepoint are described by the kernel',
      'engine_cannot',
    );
  }
  // A hook this engine does not have is refused as such; what stands in it is for an engine that has it.
  const isOther =
    hook.event === '' || (hook.kind === 'lsm' && !Object.hasOwn(LSM_HOOKS, hook.event));
  if (isOther) return kind;
  if (hook.kind === 'lsm' ? LSM_HOOKS[hook.event] !== kind : KERNEL_KINDS.includes(kind)) {
    return refuse(at, `${hook.event} has no argument of the type ${type}`);
  }
  return kind;
}

type Operator = { readonly operator: TextOperator | NumberOperator; readonly isNot: boolean };
const TEXT_OPERATORS: Readonly<Record<string, Operator>> = {
  Equal: { operator: 'equal', isNot: false },
  NotEqual: { operator: 'equal', isNot: true },
  Prefix: { operator: 'prefix', isNot: false },
  NotPrefix: { operator: 'prefix', isNot: true },
  Postfix: { operator: 'postfix', isNot: false },
  NotPostfix: { operator: 'postfix', isNot: true },
};
const NUMBER_OPERATORS: Readonly<Record<string, Operator>> = {
  Equal: { operator: 'equal', isNot: false },
  NotEqual: { operator: 'equal', isNot: true },
  GreaterThan: { operator: 'above', isNot: false },
  GT: { operator: 'above', isNot: false },
  LessThan: { operator: 'below', isNot: false },
  LT: { operator: 'below', isNot: false },
  Mask: { operator: 'mask', isNot: false },
  InRange: { operator: 'range', isNot: false },
  NotInRange: { operator: 'range', isNot: true },
};

/** The language's other operators, which other engines honour. */
const OTHER_OPERATORS: ReadonlySet<string> = new Set([
  ...['SAddr', 'NotSAddr', 'DAddr', 'NotDAddr', 'SPort', 'NotSPort', 'DPort', 'NotDPort'],
  ...['SPortPriv', 'NotSPortPriv', 'DPortPriv', 'NotDPortPriv', 'Protocol', 'Family', 'State'],
  ...['InMap', 'NotInMap', 'CapabilitiesGained', 'SubString', 'SubStringIgnCase'],
  ...['FileType', 'NotFileType'],
]);

/** Reads one item of `matchArgs`. */
export function readMatch(
  at: Located,
  refuse: Refuse,
  args: readonly PolicyArgument[] | undefined,
): ArgumentMatch | undefined {
  const fields = fieldsOf(at, refuse, {
    known: ['index', 'args', 'operator', 'values'],
  });
  const slot = args === undefined ? undefined : slotOf(fields, args);
  const argument = slot === undefined ? undefined : args?.[slot];
  const operatorAt = fields.get('operator');
  const name = needed(textOf(operatorAt, refuse, POLICY_LABEL_MAX_CHARS), fields, 'operator');
  const values = itemsOf(fields.get('values'), refuse, POLICY_VALUES_MAX, 1);
  if (fields.get('values') === undefined) needed(undefined, fields, 'values');
  if (slot === undefined || argument === undefined || name === undefined) return undefined;
  if (argument.kind === 'auto') {
    return refuse(at, 'the argument needs a type to be compared');
  }
  const isNumber = /^[su]\d/.test(argument.kind);
  const operators = isNumber ? NUMBER_OPERATORS : TEXT_OPERATORS;
  const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (operator === undefined) {
    const fits = Object.keys(operators).join(', ');
    const code = OTHER_OPERATORS.has(name) ? 'engine_cannot' : 'invalid';
    return refuse(operatorAt ?? at, `of this argument the ebpf engine honours ${fits}`, code);
  }
  const read = values.flatMap((value) =>
    isNumber
      ? (readNumber(value, refuse, argument.kind, operator.operator) ?? [])
      : (readText(value, refuse, operator.operator) ?? []),
  );
  return { slot, ...operator, values: read };
}

/** `index` names an argument by its own index, `args` by its place in the list. */
function slotOf(fields: Fields, args: readonly PolicyArgument[]): number | undefined {
  const { refuse } = fields;
  const places = fields.get('args');
  if (places !== undefined && fields.get('index') !== undefined) {
    return refuse(places, 'either index or args');
  }
  if (places !== undefined) {
    const item = itemsOf(places, refuse, 1, 1)[0];
    const place = wholeOf(item, refuse, [0, POLICY_ARGS_MAX - 1]);
    if (place === undefined || place < args.length) return place;
    return refuse(item ?? places, 'there is no such argument');
  }
  const index = needed(wholeOf(fields.get('index'), refuse, [0, FIELD_INDEX_MAX]), fields, 'index');
  if (index === undefined) return undefined;
  const slot = args.findIndex((one) => one.index === index);
  return slot >= 0 ? slot : refuse(fields.get('index') ?? fields.at, 'args has no such index');
}

/** A text to compare with, as long as the engine keeps it. */
export function readText(
  at: Located,
  refuse: Refuse,
  operator: TextOperator | NumberOperator,
): string | undefined {
  const max = operator === 'postfix' ? POLICY_POSTFIX_MAX_BYTES : POLICY_TEXT_MAX_BYTES;
  const text = textOf(at, refuse, max);
  if (text === undefined) return undefined;
  return bytesOf(text) <= max ? text : refuse(at, `must have at most ${max} bytes`);
}

const NUMBER = /^(-?(?:0|[1-9]\d{0,19})|0x[0-9a-fA-F]{1,16}|0[0-7]{1,22})$/;

function readNumber(
  at: Located,
  refuse: Refuse,
  kind: ArgumentKind,
  operator: TextOperator | NumberOperator,
): string | undefined {
  const isPlain = at.kind === 'scalar' && ['string', 'number'].includes(typeof at.value);
  const text = !isPlain ? '' : typeof at.value === 'string' ? at.value : at.source;
  const parts = operator === 'range' ? text.split(':') : [text];
  const numbers = parts.map((part) => numberOf(part.trim()));
  const bits = BigInt(Number(kind.slice(1)));
  const isSigned = kind.startsWith('s') && operator !== 'mask';
  const [low, high] = isSigned
    ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n]
    : [0n, (1n << bits) - 1n];
  const whole = numbers.flatMap((one) =>
    one === undefined || one < low || one > high ? [] : [one],
  );
  if (whole.length !== parts.length || (operator === 'range') !== (whole.length === 2)) {
    const form = operator === 'range' ? 'two numbers (low:high)' : 'a number';
    return refuse(at, `must be ${form} between ${low} and ${high}`);
  }
  const [first = 0n, second = first] = whole;
  if (second < first) return refuse(at, 'the range ends before it begins');
  return whole.join(':');
}

function numberOf(text: string): bigint | undefined {
  if (!NUMBER.test(text)) return undefined;
  return BigInt(/^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text);
}
