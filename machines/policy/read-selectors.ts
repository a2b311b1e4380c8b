// The selectors of a hook: whom they fit, and what is done then.

import {
  choiceOf,
  type Fields,
  fieldsOf,
  flagOf,
  itemsOf,
  needed,
  type Refuse,
  refuseFlags,
  wholeOf,
} from './fields.ts';
import {
  POLICY_ACTIONS_MAX,
  POLICY_ARGS_MAX,
  POLICY_BINARIES_MAX,
  POLICY_CAPABILITY_FILTERS_MAX,
  POLICY_PIDS_MAX,
  POLICY_SELECTORS_MAX,
  POLICY_VALUES_MAX,
} from './limits.ts';
import { EPERM, SIGNALS } from './linux-numbers.ts';
import type { Located } from './located.ts';
import {
  CAPABILITIES,
  NAMESPACES,
  POST_ALL,
  type PolicyArgument,
  type PolicyHook,
  type PolicySelector,
  type TextOperator,
} from './policy.ts';
import { readMatch, readText } from './read-arguments.ts';

const PID_MAX = 4_194_304;
const INODE_MAX = 4_294_967_295;

const ERRNO_MAX = 4_095;
const OUTSIDE = [
  'matchReturnArgs',
  'matchReturnActions',
  'matchParentBinaries',
  'matchNamespaceChanges',
  'matchCapabilityChanges',
  'matchData',
  'macros',
];

/** Reads `selectors`; none means one that fits everything. */
export function readSelectors(
  hook: Fields,
  kind: PolicyHook['kind'],
  args: readonly PolicyArgument[] | undefined,
): readonly PolicySelector[] {
  const items = itemsOf(hook.get('selectors'), hook.refuse, POLICY_SELECTORS_MAX);
  if (items.length === 0) return [POST_ALL];
  return items.map((item) => readSelector(item, hook.refuse, kind, args));
}

function readSelector(
  at: Located,
  refuse: Refuse,
  kind: PolicyHook['kind'],
  args: readonly PolicyArgument[] | undefined,
): PolicySelector {
  const fields = fieldsOf(at, refuse, {
    known: [
      'matchPIDs',
      'matchBinaries',
      'matchNamespaces',
      'matchCapabilities',
      'matchArgs',
      'matchActions',
    ],
    notHonoured: OUTSIDE,
  });
  const each = <T>(
    name: string,
    max: number,
    read: (item: Located, refuse: Refuse) => T | undefined,
  ): readonly T[] =>
    itemsOf(fields.get(name), refuse, max).flatMap((item) => read(item, refuse) ?? []);
  return {
    pids: each('matchPIDs', 1, readPids)[0] ?? null,
    binaries: each('matchBinaries', 1, readBinaries)[0] ?? null,
    namespaces: each('matchNamespaces', NAMESPACES.length, readNamespace),
    capabilities: each('matchCapabilities', POLICY_CAPABILITY_FILTERS_MAX, readCapabilities),
    args: each('matchArgs', POLICY_ARGS_MAX, (item) => readMatch(item, refuse, args)),
    ...readActions(fields, kind),
  };
}

function readIn(fields: Fields): boolean | undefined {
  const word = choiceOf(fields.get('operator'), fields.refuse, ['In', 'NotIn'] as const);
  const given = needed(word, fields, 'operator');
  return given === undefined ? undefined : given === 'NotIn';
}

function valuesOf(fields: Fields, max: number): readonly Located[] {
  const at = fields.get('values');
  if (at === undefined) needed(undefined, fields, 'values');
  return itemsOf(at, fields.refuse, max, 1);
}

function readPids(at: Located, refuse: Refuse): PolicySelector['pids'] | undefined {
  const fields = fieldsOf(at, refuse, {
    known: ['operator', 'values', 'isNamespacePID', 'followForks'],
  });
  refuseFlags(fields, ['followForks']);
  const isNot = readIn(fields);
  const values = valuesOf(fields, POLICY_PIDS_MAX).flatMap(
    (value) => wholeOf(value, refuse, [0, PID_MAX]) ?? [],
  );
  const isOwn = flagOf(fields.get('isNamespacePID'), refuse);
  return isNot === undefined ? undefined : { isNot, isOwn, values };
}

const BINARY_OPERATORS: Readonly<Record<string, readonly [TextOperator, boolean]>> = {
  In: ['equal', false],
  NotIn: ['equal', true],
  Prefix: ['prefix', false],
  NotPrefix: ['prefix', true],
  Postfix: ['postfix', false],
  NotPostfix: ['postfix', true],
};

function readBinaries(at: Located, refuse: Refuse): PolicySelector['binaries'] | undefined {
  const fields = fieldsOf(at, refuse, { known: ['operator', 'values', 'followChildren'] });
  refuseFlags(fields, ['followChildren']);
  const words = Object.keys(BINARY_OPERATORS);
  const word = needed(choiceOf(fields.get('operator'), refuse, words), fields, 'operator');
  const [operator, isNot] = BINARY_OPERATORS[word ?? ''] ?? ['equal', false];
  const values = valuesOf(fields, POLICY_BINARIES_MAX).flatMap(
    (value) => readText(value, refuse, operator) ?? [],
  );
  return word === undefined ? undefined : { operator, isNot, values };
}

function readNamespace(
  at: Located,
  refuse: Refuse,
): PolicySelector['namespaces'][number] | undefined {
  const fields = fieldsOf(at, refuse, { known: ['namespace', 'operator', 'values'] });
  const word = needed(choiceOf(fields.get('namespace'), refuse, NAMESPACES), fields, 'namespace');
  const isNot = readIn(fields);
  const values = valuesOf(fields, POLICY_VALUES_MAX).flatMap(
    (value): readonly (number | 'host')[] => {
      const text = value.kind === 'scalar' ? String(value.value) : '';
      if (text === 'host_ns') return ['host'];
      const isNumber = /^[1-9]\d{0,9}$/.test(text) && Number(text) <= INODE_MAX;
      if (isNumber) return [Number(text)];
      refuse(value, 'must be the number of a namespace, or host_ns');
      return [];
    },
  );
  if (word === undefined || isNot === undefined) return undefined;
  return { kind: NAMESPACES.indexOf(word), isNot, values };
}

const CAPABILITY_SETS = {
  Effective: 'effective',
  Permitted: 'permitted',
  Inheritable: 'inheritable',
} as const;

function readCapabilities(
  at: Located,
  refuse: Refuse,
): PolicySelector['capabilities'][number] | undefined {
  const fields = fieldsOf(at, refuse, {
    known: ['type', 'operator', 'values', 'isNamespaceCapability'],
  });
  refuseFlags(fields, ['isNamespaceCapability']);
  const words = ['Effective', 'Permitted', 'Inheritable'] as const;
  // Effective is what the language means when it says nothing.
  const word = choiceOf(fields.get('type'), refuse, words) ?? 'Effective';
  const isNot = readIn(fields);
  const values = valuesOf(fields, CAPABILITIES.length).flatMap((value) => {
    const found = CAPABILITIES.findIndex((one) => value.kind === 'scalar' && value.value === one);
    if (found >= 0) return [found];
    refuse(value, 'there is no such capability');
    return [];
  });
  return isNot === undefined ? undefined : { set: CAPABILITY_SETS[word], isNot, values };
}

type Acts = Pick<PolicySelector, 'isSilent' | 'signal' | 'override'>;
const ACTION_FIELDS = ['action', 'argSig', 'argError'];
const ACTION_FIELDS_OUTSIDE = [
  'rateLimit',
  'rateLimitScope',
  'argFd',
  'argName',
  'argUrl',
  'argFqdn',
  'argSock',
  'argIndex',
  'argValue',
  'argRegs',
];
const ACTIONS_OUTSIDE = [
  'FollowFD',
  'UnfollowFD',
  'CopyFD',
  'GetUrl',
  'DnsLookup',
  'TrackSock',
  'UntrackSock',
  'NotifyEnforcer',
  'CleanupEnforcerNotification',
  'Set',
];
const ACTIONS = ['Post', 'NoPost', 'Sigkill', 'Signal', 'Override', ...ACTIONS_OUTSIDE] as const;

function readActions(selector: Fields, kind: PolicyHook['kind']): Acts {
  const { refuse } = selector;
  let acts: Acts = { isSilent: false, signal: 0, override: 0 };
  const seen = new Set<string>();
  for (const at of itemsOf(selector.get('matchActions'), refuse, POLICY_ACTIONS_MAX)) {
    const fields = fieldsOf(at, refuse, {
      known: [...ACTION_FIELDS, 'kernelStackTrace', 'userStackTrace', 'imaHash'],
      notHonoured: ACTION_FIELDS_OUTSIDE,
    });
    refuseFlags(fields, ['kernelStackTrace', 'userStackTrace', 'imaHash']);
    const actionAt = fields.get('action') ?? at;
    const action = needed(choiceOf(fields.get('action'), refuse, ACTIONS), fields, 'action');
    if (action === undefined) continue;
    if (seen.has(action)) refuse(actionAt, `${action} stands here twice`);
    seen.add(action);
    acts = { ...acts, ...readAction(action, fields, kind, actionAt) };
  }
  if (seen.has('Sigkill') && seen.has('Signal')) refuse(selector.at, 'Sigkill or Signal, not both');
  if (seen.has('Post') && seen.has('NoPost')) refuse(selector.at, 'Post or NoPost, not both');
  return acts;
}

function readAction(
  action: string,
  fields: Fields,
  kind: PolicyHook['kind'],
  at: Located,
): Partial<Acts> {
  const { refuse } = fields;
  const signalAt = fields.get('argSig');
  const errorAt = fields.get('argError');
  if (signalAt !== undefined && action !== 'Signal') refuse(signalAt, 'only Signal has a signal');
  if (errorAt !== undefined && action !== 'Override') refuse(errorAt, 'only Override has an error');
  if (ACTIONS_OUTSIDE.includes(action))
    refuse(at, 'the ebpf engine cannot honour it', 'engine_cannot');
  if (action === 'NoPost') return { isSilent: true };
  if (action === 'Sigkill') return { signal: SIGNALS.SIGKILL };
  if (action === 'Signal') {
    const signal = needed(wholeOf(signalAt, refuse, [1, SIGNALS.SIGRTMAX]), fields, 'argSig');
    return { signal: signal ?? 0 };
  }
  if (action !== 'Override') return {};
  if (kind !== 'lsm') {
    refuse(at, 'only a hook of the LSM can answer in the place of the kernel', 'engine_cannot');
    return {};
  }
  const error = needed(wholeOf(errorAt, refuse, [-ERRNO_MAX, -1]), fields, 'argError');
  return { override: error === undefined ? EPERM : -error };
}
