// A TracingPolicy: a policy this engine carries out, whose compiled lines hold nothing that ends a line or a word, or every
// refusal with a place in the text.

import { parsePolicy } from '../../../actors/runtime/parse-policy.ts';
import { POLICY_REFUSALS_MAX } from '../../../machines/policy/limits.ts';
import { POLICY_NAME } from '../../../machines/trust/policy-signature.rules.ts';
import { compilePolicy } from '../../../sensor/engine/policy/compile-policy.ts';
import { texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget, lastWords } from '../target.ts';

const REASON_MAX_CHARS = 400;
const HEAD = 'apiVersion: cilium.io/v1alpha1\nkind: TracingPolicy\nmetadata: {name: a}\n';
const LINE =
  /^(policy|hook|message|tag|arg|selector|pids|ns|caps|match|act)( [A-Za-z0-9/._:%-]+)*$/;

const target: FuzzTarget = {
  name: 'tracing-policy',
  modules: [
    'actors/runtime/located-yaml.ts',
    'machines/policy/fields.ts',
    'machines/policy/read-policy.ts',
    'machines/policy/read-arguments.ts',
    'machines/policy/read-selectors.ts',
    'sensor/engine/policy/compile-policy.ts',
  ],
  form: 'text',
  dictionary: [
    '- call: sys_write\n',
    'matchArgs: ',
    'matchPIDs: ',
    'operator: NotIn',
    'values: ["1:2"]',
    'action: Sigkill',
    '&a ',
    '*a',
    '<<: ',
    '!!binary ',
    '- - - ',
    '[[[',
    '0x10',
    '-1',
    '|\n  ',
  ],
  seeds: () =>
    texts(
      `${HEAD}spec:\n  kprobes:\n  - call: sys_write\n    args: [{index: 0, type: fd}]\n`,
      `${HEAD}spec:\n  kprobes:\n  - call: sys_lseek\n    args: [{index: 1, type: long}]\n    selectors:\n    - matchArgs: [{index: 1, operator: InRange, values: ["-5:0x10"]}]\n      matchPIDs: [{operator: NotIn, values: [1]}]\n      matchActions: [{action: Signal, argSig: 15}]\n`,
      `${HEAD}spec:\n  options: [{name: policy-mode, value: monitor}]\n  tracepoints:\n  - subsystem: sched\n    event: sched_process_exec\n    message: "a b\\u2028%"\n    tags: [x]\n    args: [{index: 4, type: string}]\n    selectors:\n    - matchArgs: [{args: [0], operator: Postfix, values: ["-", "ä"]}]\n      matchBinaries: [{operator: Prefix, values: [/bin/]}]\n      matchCapabilities: [{type: Effective, operator: In, values: [CAP_CHOWN]}]\n      matchNamespaces: [{namespace: Net, operator: In, values: [host_ns, "7"]}]\n`,
      `${HEAD}spec:\n  lsmhooks:\n  - hook: file_open\n    args: [{index: 0, type: file}]\n    selectors:\n    - matchActions: [{action: Override, argError: -1}]\n`,
      'a: &a [x]\nb: [*a, *a]\n',
      `__proto__: {polluted: 1}\n${HEAD}`,
      '['.repeat(300),
      '- '.repeat(300),
      '{',
    ),
  run(bytes, note) {
    const text = bytes.toString('utf8');
    const result = parsePolicy(text);
    demandSame(parsePolicy(text), result, 'the same text is another policy');
    if (!result.ok) {
      demand(result.refusals.length > 0, 'a refusal says nothing');
      demand(result.refusals.length <= POLICY_REFUSALS_MAX, 'there are too many refusals');
      for (const { line, column, reason } of result.refusals) {
        demand(line > 0 && column > 0, 'a refusal has no place');
        demand(reason !== '' && reason.length <= REASON_MAX_CHARS, 'a refusal is too large');
        note(lastWords(reason));
      }
      return;
    }
    demand(POLICY_NAME.test(result.policy.name), 'a policy has no name');
    const lines = compilePolicy(result.policy, 'd').split('\n');
    demand(lines.pop() === '', 'the last line is torn');
    for (const line of lines) demand(LINE.test(line), 'a line is none the engine reads');
    note(`accepted ${result.policy.hooks.length} ${result.policy.mode}`);
  },
};
export default target;
