// Tokens and API keys as somebody types them: a kind only for the prefix, 43 base62 characters and their checksum.
import {
  formatSecret,
  kindOfSecret,
  SECRET_PREFIXES,
} from '../../../machines/trust/secret.rules.ts';
import { texts } from '../samples.ts';
import { demand, type FuzzTarget } from '../target.ts';

const UNDERSCORES = 'svck____________________________________________4COg3C';
const SHAPE = /^svc[erk]_[0-9A-Za-z]{49}$/;
const made = (kind: keyof typeof SECRET_PREFIXES, byte: number) =>
  formatSecret(kind, new Uint8Array(32).fill(byte));

const target: FuzzTarget = {
  name: 'secret',
  modules: ['machines/trust/secret.rules.ts'],
  form: 'text',
  dictionary: Object.values(SECRET_PREFIXES),
  seeds: () =>
    texts(
      made('enrollment', 0),
      made('reenrollment', 255),
      made('apiKey', 77),
      // The checksum of a body of underscores is right; its characters are not.
      UNDERSCORES,
      'svck_',
      `svck_${'\u0130'.repeat(49)}`,
      'x'.repeat(60),
    ),
  run(bytes, note) {
    const text = bytes.toString();
    const kind = kindOfSecret(text);
    note(String(kind));
    if (kind !== null) {
      demand(text.startsWith(SECRET_PREFIXES[kind]), 'the kind is another one');
      demand(SHAPE.test(text), 'a secret has other characters');
    }
    // What 32 bytes are written as is always known again, and one changed character is not.
    const random = new Uint8Array(32);
    random.set(bytes.subarray(0, 32));
    const written = formatSecret('apiKey', random);
    demand(kindOfSecret(written) === 'apiKey', 'a written secret is not known');
    const at = 5 + ((bytes[32] ?? 0) % 49);
    const other = written[at] === 'A' ? 'B' : 'A';
    const mistyped = written.slice(0, at) + other + written.slice(at + 1);
    demand(kindOfSecret(mistyped) === null, 'a mistyped secret is accepted');
  },
};
export default target;
