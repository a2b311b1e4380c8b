// Every contract that PostgreSQL has to keep.
import { auditTamperingContract } from './audit-tampering.contract.ts';
import { designationContract } from './designation.contract.ts';
import { identityWatchContract } from './identity-watch.contract.ts';
import type { openRealRelational } from './real-stores.ts';
import { relationalContracts } from './relational.contract.ts';
import { ssoPortsOn } from './sso-ports.ts';
import { ssoStoreContract } from './sso-store.contract.ts';

/** Declares them for a database, which is asked for when a test begins. */
export function postgresContracts(
  control: () => Awaited<ReturnType<typeof openRealRelational>>,
): void {
  const setAway = (away: boolean) => control().setAway(away);
  relationalContracts({ port: () => control().relational, setAway });
  designationContract({ port: () => control().relational, setAway });
  identityWatchContract(control);
  auditTamperingContract(() => control().relational);
  ssoStoreContract({ port: () => ssoPortsOn(control().relational), setAway });
}
