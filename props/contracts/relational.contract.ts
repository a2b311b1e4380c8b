// The contracts of the ports of PostgreSQL: one line for each, run in memory, in the simulated fleet and on the real store.
// Designation stands apart: the simulated lock outlives a cut for the session's idle time.
import type { RelationalStores } from '../../storage/ports/stores.ts';
import { alertRulesContract } from './alert-rules.contract.ts';
import { alertsContract } from './alerts.contract.ts';
import { apiKeysContract } from './api-keys.contract.ts';
import { auditChainContract } from './audit-chain.contract.ts';
import { auditLogContract } from './audit-log.contract.ts';
import type { Harness } from './away.ts';
import { containmentOrdersContract } from './containment-orders.contract.ts';
import { deliveriesContract } from './deliveries.contract.ts';
import { digestsContract } from './digests.contract.ts';
import { exportsContract } from './exports.contract.ts';
import { factWriterContract } from './fact-writer.contract.ts';
import { huntingDocumentsContract } from './hunting-documents.contract.ts';
import { inventoryStoreContract } from './inventory-store.contract.ts';
import { licenseStoreContract } from './license-store.contract.ts';
import { ownershipContract } from './ownership.contract.ts';
import { peopleContract } from './people.contract.ts';
import { policyStoreContract } from './policy-store.contract.ts';
import { raisedPeopleContract } from './raised-people.contract.ts';
import { sensorRegistryContract } from './sensor-registry.contract.ts';
import { settingsStoreContract } from './settings-store.contract.ts';
import { siemContract } from './siem.contract.ts';
import { teamsContract } from './teams.contract.ts';
import { userKeysContract } from './user-keys.contract.ts';

/** Defines the tests of every relational port. */
export function relationalContracts({ port, setAway }: Harness<RelationalStores>): void {
  sensorRegistryContract({ port: () => port().sensors, setAway });
  factWriterContract({ port, setAway });
  apiKeysContract({ port: () => port().apiKeys, setAway });
  inventoryStoreContract({ port: () => port().inventory, setAway });
  auditLogContract({ port, setAway });
  auditChainContract({ port, setAway });
  licenseStoreContract({ port, setAway });
  peopleContract({ port, setAway });
  settingsStoreContract({ port, setAway });
  containmentOrdersContract({ port, setAway });
  alertsContract({ port, setAway });
  alertRulesContract({ port, setAway });
  deliveriesContract({ port, setAway });
  digestsContract({ port, setAway });
  exportsContract({ port, setAway });
  siemContract({ port, setAway });
  huntingDocumentsContract({ port, setAway });
  policyStoreContract({ port, setAway });
  teamsContract({ port, setAway });
  ownershipContract({ port, setAway });
  userKeysContract({ port });
  raisedPeopleContract({ port });
}
