// What the Sensor makes of an HTTP answer. The input is written as an answer: the status, the Retry-After header, then
// the body. It may come from anybody who stands in the way of a first contact, so reading it never throws.
import { retryAfterOf, sentenceOf, waitOf } from '../../../sensor/transport/answer.ts';
import { answerOf, problemCodeOf } from '../../../sensor/transport/console-client.ts';
import { parseFingerprint } from '../../../sensor/transport/pinned-ca.ts';
import { texts } from '../samples.ts';
import { demand, type FuzzTarget } from '../target.ts';

const CODE_MAX_CHARS = 64;
const SENTENCE_MAX_CHARS = 600;
const WAIT_MAX_MS = 10_000_000_000;

const target: FuzzTarget = {
  name: 'console-answer',
  modules: [
    'sensor/transport/answer.ts',
    'sensor/transport/console-client.ts',
    'machines/wire/parse.ts',
  ],
  form: 'text',
  dictionary: [
    '"code":',
    '"detail":',
    '"title":',
    '"toString":null',
    '503\n5\n',
    '200\n\n',
    '{}',
    '1e3',
  ],
  seeds: () =>
    texts(
      '200\n\n{"acknowledged_sequence":1}',
      '503\n5\n{"code":"store_unavailable","detail":"later","title":"t"}',
      '429\n1.5\n{"code":7,"detail":{"a":1}}',
      '401\nWed, 21 Oct 2026 07:28:00 GMT\n<html>',
      '500\n9999999.9\n{"detail":{"toString":null,"valueOf":null}}',
      '500\n-1\n{"title":[{"toString":null}]}',
      `400\n 3 \n{"code":"${'c'.repeat(5_000)}","detail":"${'d'.repeat(5_000)}"}`,
      '502\n\u00a07\u2003\n{"code":{"toString":1,"valueOf":1}}',
      '404\n\n[]',
      '200\n\n',
    ),
  run(bytes, note) {
    const [status = '', wait = '', ...rest] = bytes.toString().split('\n');
    const text = rest.join('\n');
    const retryAfterMs = retryAfterOf(wait === '' ? undefined : wait);
    demand(
      retryAfterMs === null || (retryAfterMs >= 0 && retryAfterMs <= WAIT_MAX_MS),
      'a wait is no time',
    );
    const answer = answerOf(Number.parseInt(status, 10) || 0, text, retryAfterMs);
    demand(waitOf(answer) === null || waitOf(answer) === retryAfterMs, 'a wait is another one');
    const code = problemCodeOf(text);
    demand(typeof code === 'string' && code.length <= CODE_MAX_CHARS, 'a code is too long');
    parseFingerprint(text);
    if (answer.ok) return note(`ok ${answer.json === null}`);
    demand(sentenceOf(answer).length <= SENTENCE_MAX_CHARS, 'a sentence is too long');
    if (answer.kind === 'refused')
      note(`${/^http_/.test(answer.code)} ${answer.detail === ''} ${retryAfterMs === null}`);
  },
};
export default target;
