// The body of POST /sensors/renew.
import { RenewRequest } from '../../../machines/wire/enrollment.ts';
import { bodyTarget } from '../body-target.ts';
import { enrollRequest } from '../samples.ts';

export default bodyTarget({
  name: 'renew-body',
  schema: RenewRequest,
  samples: [{ csr_pem: enrollRequest.csr_pem }, { csr_pem: 'x'.repeat(32_769) }, { csr_pem: null }],
});
