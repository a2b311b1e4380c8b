// Every planted bug; each checker has one at least, and so has liveness.
import { ACCESS_BUGS } from './access-bugs.ts';
import { AUDIT_BUGS } from './audit-bugs.ts';
import { CLONE_BUGS } from './clone-bugs.ts';
import { CONTAINMENT_BUGS } from './containment-bugs.ts';
import { DELIVERY_BUGS } from './delivery-bugs.ts';
import { DESIGNATION_BUGS } from './designation-bugs.ts';
import { DETECTION_BUGS } from './detection-bugs.ts';
import { ENGINE_BUGS } from './engine-bugs.ts';
import { FAILOVER_BUGS } from './failover-bugs.ts';
import { KEEPING_BUGS } from './keeping-bugs.ts';
import { LEDGER_BUGS } from './ledger-bugs.ts';
import { PICTURE_BUGS } from './live-view-bugs.ts';
import { NODE_BUGS } from './node-bugs.ts';
import { PEOPLE_BUGS } from './people-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { POLICY_BUGS } from './policy-bugs.ts';
import { RECOVERY_BUGS } from './recovery-bugs.ts';
import { ROOT_BUGS } from './root-bugs.ts';
import { TELLING_BUGS } from './telling-bugs.ts';
import { TRUST_BUGS } from './trust-bugs.ts';
import { WEBHOOK_BUGS } from './webhook-bugs.ts';

export const PLANTED: readonly PlantedBug[] = [
  ...DELIVERY_BUGS,
  ...TRUST_BUGS,
  ...NODE_BUGS,
  ...PICTURE_BUGS,
  ...FAILOVER_BUGS,
  ...KEEPING_BUGS,
  ...RECOVERY_BUGS,
  ...AUDIT_BUGS,
  ...DESIGNATION_BUGS,
  ...ACCESS_BUGS,
  ...PEOPLE_BUGS,
  ...LEDGER_BUGS,
  ...TELLING_BUGS,
  ...ENGINE_BUGS,
  ...DETECTION_BUGS,
  ...WEBHOOK_BUGS,
  ...CONTAINMENT_BUGS,
  ...POLICY_BUGS,
  ...CLONE_BUGS,
  ...ROOT_BUGS,
];
