// The body of POST /sensors/enroll, the only one that comes from somebody without a certificate.
import { EnrollRequest } from '../../../machines/wire/enrollment.ts';
import { NODE_NAME_PATTERN } from '../../../machines/wire/scalars.ts';
import { bodyTarget } from '../body-target.ts';
import { enrollRequest } from '../samples.ts';
import { demand } from '../target.ts';

const LABEL_NAME_MAX_CHARS = 64;
const LABEL_MAX_CHARS = 256;
const { labels: _labels, declared_role: _role, ...plain } = enrollRequest;

export default bodyTarget({
  name: 'enroll-body',
  schema: EnrollRequest,
  samples: [
    enrollRequest,
    plain,
    { ...enrollRequest, labels: { 'a\nb': { deep: [] } } },
    { ...enrollRequest, labels: { [`${'x'.repeat(65)}`]: '' } },
    { ...plain, labels: { ['k'.repeat(20_000)]: 5 } },
  ],
  check({ labels = {}, node_name }) {
    demand(new RegExp(NODE_NAME_PATTERN).test(node_name), 'a node name does not fit');
    for (const [name, text] of Object.entries(labels)) {
      demand([...name].length <= LABEL_NAME_MAX_CHARS, 'the name of a label is too long');
      demand(typeof text === 'string', 'a label is no text');
      demand([...text].length <= LABEL_MAX_CHARS, 'a label is too long');
    }
  },
});
