// The text after the question mark: plain values without a prototype, lists only where lists belong, nothing lost.
import { parseQuery } from '../../../gateway/operator-plane/plumbing/query-string.ts';
import { texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const LISTS = new Set(['event_kind', 'severity', 'trust_health', 'trust_state']);

const target: FuzzTarget = {
  name: 'query-string',
  modules: ['gateway/operator-plane/plumbing/query-string.ts'],
  form: 'text',
  dictionary: [
    'event_kind=',
    'severity=',
    '&',
    '=',
    ',',
    '%2C',
    '%00',
    '+',
    'limit=',
    '__proto__=',
  ],
  seeds: () =>
    texts(
      'limit=5&cursor=abc.def',
      'event_kind=process_exec,file_open&event_kind=dns_query&severity=',
      'a=1&a=2&text=%F0%9F%98%80&text=%ff',
      '__proto__=1&constructor=2&toString=3',
      '&&==&=x&%',
      'severity=,,,&trust_health=a%2Cb',
    ),
  run(bytes, note) {
    const text = bytes.toString();
    const parsed = parseQuery(text);
    demand(Object.getPrototypeOf(parsed) === null, 'a query has a prototype');
    const pairs = [...new URLSearchParams(text)];
    demandSame(
      Object.keys(parsed).toSorted(),
      [...new Set(pairs.map(([name]) => name))].toSorted(),
      'names',
    );
    for (const [name, value] of Object.entries(parsed)) {
      const given = pairs.filter(([one]) => one === name).map(([, one]) => one);
      demand(!LISTS.has(name) || Array.isArray(value), 'a list parameter is no list');
      const joined = Array.isArray(value) ? value : [value];
      const expected = LISTS.has(name)
        ? given.flatMap((one) => one.split(',')).filter((one) => one !== '')
        : given;
      demandSame(joined, expected, 'a value was lost or made');
      if (LISTS.has(name)) note(`${name} ${Math.min(joined.length, 4)}`);
    }
    note(String(Math.min(pairs.length, 6)));
  },
};
export default target;
