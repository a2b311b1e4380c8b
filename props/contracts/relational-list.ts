// The contracts of the ports of PostgreSQL, one line each, in any order. Designation stands apart: the simulated lock outlives
// a cut for the session's idle time. decision: D110, D174
export { alertRulesContract } from './alert-rules.contract.ts';
export { alertsContract } from './alerts.contract.ts';
export { apiKeysContract } from './api-keys.contract.ts';
export { auditChainContract } from './audit-chain.contract.ts';
export { auditLogContract } from './audit-log.contract.ts';
export { containmentOrdersContract } from './containment-orders.contract.ts';
export { deliveriesContract } from './deliveries.contract.ts';
export { digestsContract } from './digests.contract.ts';
export { exportsContract } from './exports.contract.ts';
export { factWriterContract } from './fact-writer.contract.ts';
export { huntingDocumentsContract } from './hunting-documents.contract.ts';
export { inventoryStoreContract } from './inventory-store.contract.ts';
export { licenseStoreContract } from './license-store.contract.ts';
export { ownershipContract } from './ownership.contract.ts';
export { peopleContract } from './people.contract.ts';
export { policyStoreContract } from './policy-store.contract.ts';
export { raisedPeopleContract } from './raised-people.contract.ts';
export { sensorRegistryContract } from './sensor-registry.contract.ts';
export { settingsStoreContract } from './settings-store.contract.ts';
export { siemContract } from './siem.contract.ts';
export { teamsContract } from './teams.contract.ts';
export { userKeysContract } from './user-keys.contract.ts';
