// From the document of a TracingPolicy to what the `ebpf` engine carries out. Whatever it cannot honour is refused with the
// field and its place, never left out: a policy that is in force does all that it says. decision: D45, D80

import { POLICY_NAME } from '../trust/policy-signature.rules.ts';
import { MONITORED_TAG } from '../wire/event.ts';
import {
  collectRefusals,
  type Fields,
  fieldsOf,
  flagOf,
  itemsOf,
  needed,
  type Refuse,
  refuseFlags,
  textOf,
} from './fields.ts';
import {
  POLICY_HOOKS_MAX,
  POLICY_MESSAGE_MAX_CHARS,
  POLICY_TAG_MAX_CHARS,
  POLICY_TAGS_MAX,
} from './limits.ts';
import type { Located, PolicyRefusal } from './located.ts';
import type { Policy, PolicyHook } from './policy.ts';
import { LSM_HOOKS, readArguments } from './read-arguments.ts';
import { readSelectors } from './read-selectors.ts';

export type PolicyResult =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly refusals: readonly PolicyRefusal[] };

const NAME_MAX_CHARS = 256;
const SYSTEM_CALL = /^(?:__x64_)?sys_([a-z][a-z0-9_]{0,39})$/;
const KERNEL_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,127}$/;
const TRACE_NAME = /^[a-z][a-z0-9_]{0,47}$/;
const COMMON = ['args', 'selectors', 'message', 'tags'];
const SPEC_OUTSIDE = [
  'loader',
  'uprobes',
  'usdts',
  'fentries',
  'podSelector',
  'containerSelector',
  'hostSelector',
  'lists',
  'enforcers',
  'selectorsMacros',
];

/** Reads a document as a policy, or says everything that is wrong with it. Never throws. */
export function readPolicy(root: Located): PolicyResult {
  const { list, refuse } = collectRefusals();
  const policy = policyOf(root, refuse);
  if (list.length > 0 || policy === undefined) return { ok: false, refusals: list };
  return { ok: true, policy };
}

function policyOf(root: Located, refuse: Refuse): Policy | undefined {
  const top = fieldsOf(root, refuse, { known: ['apiVersion', 'kind', 'metadata', 'spec'] });
  readWord(top, 'apiVersion', 'cilium.io/v1alpha1');
  readWord(top, 'kind', 'TracingPolicy');
  const name = readName(top);
  const specAt = top.get('spec');
  if (specAt === undefined) return needed<Policy>(undefined, top, 'spec');
  const spec = fieldsOf(specAt, refuse, {
    known: ['kprobes', 'tracepoints', 'lsmhooks', 'options'],
    notHonoured: SPEC_OUTSIDE,
  });
  const mode = readMode(spec);
  const [calls, points, lsm] = [
    listOf(spec, 'kprobes'),
    listOf(spec, 'tracepoints'),
    listOf(spec, 'lsmhooks'),
  ];
  const count = calls.length + points.length + lsm.length;
  if (count === 0) refuse(specAt, 'has no hook this engine knows');
  if (count > POLICY_HOOKS_MAX) refuse(specAt, `must have at most ${POLICY_HOOKS_MAX} hooks`);
  const hooks = [
    ...calls.map((at) => readCall(at, refuse)),
    ...points.map((at) => readTracepoint(at, refuse)),
    ...lsm.map((at) => readLsm(at, refuse)),
  ];
  return name === undefined ? undefined : { name, mode, hooks };
}

function listOf(spec: Fields, name: string): readonly Located[] {
  return itemsOf(spec.get(name), spec.refuse, POLICY_HOOKS_MAX);
}

function readWord(fields: Fields, name: string, word: string): void {
  const at = fields.get(name);
  if (at === undefined) needed(undefined, fields, name);
  else if (at.kind !== 'scalar' || at.value !== word) fields.refuse(at, `must be ${word}`);
}

function readName(top: Fields): string | undefined {
  const at = top.get('metadata');
  if (at === undefined) return needed<string>(undefined, top, 'metadata');
  const metadata = fieldsOf(at, top.refuse, {
    known: ['name', 'labels', 'annotations'],
    notHonoured: ['namespace'],
  });
  // They say nothing about what the policy does.
  for (const about of ['labels', 'annotations']) {
    const texts = metadata.get(about);
    if (texts !== undefined && texts.kind !== 'map') top.refuse(texts, 'must be a mapping');
  }
  const nameAt = metadata.get('name');
  const name = needed(textOf(nameAt, top.refuse, NAME_MAX_CHARS), metadata, 'name');
  if (name === undefined || POLICY_NAME.test(name)) return name;
  return top.refuse(nameAt ?? at, 'must be 1 to 63 small letters, digits, dots, dashes or lines');
}

function readMode(spec: Fields): Policy['mode'] {
  let mode: Policy['mode'] | null = null;
  for (const item of itemsOf(spec.get('options'), spec.refuse, POLICY_HOOKS_MAX)) {
    const option = fieldsOf(item, spec.refuse, { known: ['name', 'value'] });
    const nameAt = option.get('name');
    const name = needed(textOf(nameAt, spec.refuse, NAME_MAX_CHARS), option, 'name');
    const value = needed(textOf(option.get('value'), spec.refuse, NAME_MAX_CHARS), option, 'value');
    if (name === undefined || value === undefined) continue;
    if (name !== 'policy-mode') {
      spec.refuse(nameAt ?? item, 'the ebpf engine cannot honour this option', 'engine_cannot');
    } else if (mode !== null) {
      spec.refuse(nameAt ?? item, 'policy-mode stands here twice');
    } else if (value === 'monitor' || value === 'enforce') {
      mode = value;
    } else {
      spec.refuse(option.get('value') ?? item, 'must be monitor or enforce');
    }
  }
  return mode ?? 'enforce';
}

function readCall(at: Located, refuse: Refuse): PolicyHook {
  const fields = fieldsOf(at, refuse, {
    known: [...COMMON, 'call', 'syscall', 'return', 'ignore'],
    notHonoured: ['returnArg', 'returnArgAction', 'data'],
  });
  refuseFlags(fields, ['return']);
  const ignore = fields.get('ignore');
  if (ignore !== undefined) {
    refuseFlags(fieldsOf(ignore, refuse, { known: ['callNotFound'] }), ['callNotFound']);
  }
  const syscallAt = fields.get('syscall');
  // The language takes it for true when it is left out.
  if (syscallAt !== undefined && !flagOf(syscallAt, refuse)) {
    refuse(syscallAt, 'the ebpf engine hooks system calls only', 'engine_cannot');
  }
  const callAt = fields.get('call');
  const call = needed(textOf(callAt, refuse, NAME_MAX_CHARS), fields, 'call');
  const event = call === undefined ? undefined : SYSTEM_CALL.exec(call)?.[1];
  if (call !== undefined && !KERNEL_NAME.test(call)) {
    refuse(callAt ?? at, 'is not the name of a function of the kernel');
  } else if (call !== undefined && event === undefined) {
    refuse(
      callAt ?? at,
      'the ebpf engine hooks system calls only, such as sys_write',
      'engine_cannot',
    );
  }
  return withCommon(fields, { kind: 'call', category: 'syscalls', event: event ?? '' });
}

function readTracepoint(at: Located, refuse: Refuse): PolicyHook {
  const fields = fieldsOf(at, refuse, { known: [...COMMON, 'subsystem', 'event', 'raw'] });
  refuseFlags(fields, ['raw']);
  const [category, event] = ['subsystem', 'event'].map((name) => {
    const word = needed(textOf(fields.get(name), refuse, NAME_MAX_CHARS), fields, name);
    if (word === undefined || TRACE_NAME.test(word)) return word ?? '';
    refuse(fields.get(name) ?? at, 'is not the name of a tracepoint');
    return '';
  });
  return withCommon(fields, {
    kind: 'tracepoint',
    category: category ?? '',
    event: event ?? '',
  });
}

function readLsm(at: Located, refuse: Refuse): PolicyHook {
  const fields = fieldsOf(at, refuse, { known: [...COMMON, 'hook'] });
  const hookAt = fields.get('hook');
  const event = needed(textOf(hookAt, refuse, NAME_MAX_CHARS), fields, 'hook');
  if (event !== undefined && !KERNEL_NAME.test(event)) {
    refuse(hookAt ?? at, 'is not the name of a hook of the LSM');
  } else if (event !== undefined && !Object.hasOwn(LSM_HOOKS, event)) {
    const known = Object.keys(LSM_HOOKS).join(' and ');
    refuse(hookAt ?? at, `of the LSM the ebpf engine hooks ${known} only`, 'engine_cannot');
  }
  return withCommon(fields, { kind: 'lsm', category: 'lsm', event: event ?? '' });
}

function readTag(at: Located, refuse: Refuse): string | undefined {
  const tag = textOf(at, refuse, POLICY_TAG_MAX_CHARS);
  if (tag === undefined || !tag.startsWith(MONITORED_TAG)) return tag;
  return refuse(at, `the engine itself says ${MONITORED_TAG}, of what a policy would have done`);
}

function withCommon(
  fields: Fields,
  hook: Pick<PolicyHook, 'kind' | 'category' | 'event'>,
): PolicyHook {
  const { refuse } = fields;
  const args = readArguments(fields, hook);
  return {
    ...hook,
    message: textOf(fields.get('message'), refuse, POLICY_MESSAGE_MAX_CHARS) ?? null,
    tags: itemsOf(fields.get('tags'), refuse, POLICY_TAGS_MAX).flatMap(
      (tag) => readTag(tag, refuse) ?? [],
    ),
    args: args ?? [],
    selectors: readSelectors(fields, hook.kind, args),
  };
}
