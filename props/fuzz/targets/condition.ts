// A condition, from the bytes somebody typed to the tree, its text and its predicate: nothing throws, what was read can be
// printed and read again, a refusal points into the text, and no pattern or wildcard takes long over an event.
import { parseCondition } from '../../../machines/detection/condition-parser.ts';
import { conditionText } from '../../../machines/detection/condition-text.ts';
import { predicateOf } from '../../../machines/detection/predicate.ts';
import { plainEvent, texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const LONG = 'a'.repeat(2_000);
const EVENT = {
  ...plainEvent,
  event_kind: 'process_exec' as const,
  severity: 'info' as const,
  sensor_id: '01234567-89ab-4cde-8f01-23456789abcd',
  node_name: 'node-1',
  received_at: '2026-03-04T05:06:08.000Z',
  message: `${LONG}b${LONG}`,
  process: { exec_id: 'x', pid: 1, binary: '/usr/bin/ab', arguments: LONG },
};

const target: FuzzTarget = {
  name: 'condition',
  modules: [
    'machines/detection/condition-parser.ts',
    'machines/detection/condition-reader.ts',
    'machines/detection/condition-value.ts',
    'machines/detection/pattern.ts',
    'machines/detection/wildcard.ts',
    'machines/detection/address.ts',
  ],
  form: 'text',
  dictionary: [
    ...['binary:', 'message~', 'arguments=~', 'pid:', 'destination_ip:', 'severity:>='],
    ...[' and ', ' or ', ' not ', '(?i)', '(?:', '{2,9}', '\\x41', '\\u{1F600}', '..', '/8', '::'],
    ...['*a', '?', '[^', '\\b', '(a+)+$'],
  ],
  seeds: () =>
    texts(
      'binary:*/curl and destination_port:443',
      'not (severity:>=high or pid:1..99) "free text"',
      'message=~"^(a+)+$" arguments:*a*a*a*a*a*a*b',
      'destination_ip:(10.0.0.0/8, fe80::/10) domain~example',
      'event_kind:(process_exec, dns_query) uid:0 policy:*',
      'binary:"\\x41\\u{110000}" or',
      'message=~"(?i)(?:x{100}){100}"',
    ),
  run(bytes, note) {
    const text = bytes.toString();
    const read = parseCondition(text);
    if (!read.ok) {
      demand(read.at >= 0 && read.at <= text.length + 1, 'a refusal points beside the text');
      demand(read.detail.length > 0 && read.detail.length < 400, 'a refusal says nothing');
      return note(read.detail.replaceAll(/[^a-z ]/g, '').slice(0, 24));
    }
    const printed = conditionText(read.condition);
    const again = parseCondition(printed);
    demand(again.ok, `what was read cannot be read again: ${printed}`);
    demandSame(conditionText(again.condition), printed, 'what is printed changes');
    const isTrue = predicateOf(read.condition)(EVENT);
    demandSame(predicateOf(again.condition)(EVENT), isTrue, 'what is printed means something else');
    note(`${read.condition.is} ${isTrue}`);
  },
};
export default target;
