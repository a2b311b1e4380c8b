// The folders that mutation testing asks by themselves, with the tests that a mutant of each must face, in their order: the
// cheap ones first. Of effect code those that need no database server, no child process and no journey; storage/relational
// is judged by its contracts, on the embedded PostgreSQL. The two folders of machines hold tables and readers: whatever
// imports them would be asked about every line of a table.

/** What a score may not fall below, in percent. */
export const FLOORS = { machines: 95, effects: 80 };

const OWN_TESTS: Readonly<Record<string, readonly string[]>> = {
  'sensor/spool': [
    'sensor/spool/**/*.test.ts',
    'props/crash/durability.test.ts',
    'props/machines/spool.test.ts',
  ],
  'sensor/transport': [
    'sensor/transport/**/*.test.ts',
    'props/peers/transport.test.ts',
    'props/peers/untrusted-console.test.ts',
    'props/peers/expired-certificate.test.ts',
  ],
  'actors/trust': ['actors/trust/**/*.test.ts', 'props/models/races/identity-cache.test.ts'],
  'gateway/sensor-plane': [
    'gateway/sensor-plane/**/*.test.ts',
    'props/attacks/{sensor-plane,stream,certificates}.test.ts',
  ],
  'machines/policy': [
    'machines/policy/**/*.test.ts',
    'sensor/engine/policy/compile-policy.test.ts',
    'props/policies/library.test.ts',
    'props/machines/policy-{diff,pack}.test.ts',
    'props/machines/signing-keys.test.ts',
    'props/machines/tracing-policy.test.ts',
  ],
  'machines/detection': [
    'machines/detection/**/*.test.ts',
    'gateway/web/design/condition-parts.test.ts',
    'props/machines/{process-tree,exercise,rule-library}.test.ts',
    'props/pipeline/baselines.test.ts',
    'actors/detection/absences.test.ts',
    'props/machines/{alert-rules,condition}.test.ts',
  ],
  'storage/relational': ['props/mutation/relational.contracts.ts'],
};

export interface WantedFolder {
  readonly folder: string;
  readonly tests: readonly string[];
  readonly isOfMachines: boolean;
}

/** The tests of the folder that was asked for by `MUTATE_FOLDER`; null: the machines that have no tests of their own. */
export function wantedFolder(): WantedFolder | null {
  const folder = process.env['MUTATE_FOLDER'] ?? '';
  if (folder === '') return null;
  const tests = OWN_TESTS[folder];
  if (tests !== undefined) return { folder, tests, isOfMachines: isOfMachines(folder) };
  throw new Error(`MUTATE_FOLDER is one of ${Object.keys(OWN_TESTS).join(', ')}`);
}

/** The folders of machines that are asked by themselves, and so not with the others. */
export const ASKED_APART = Object.keys(OWN_TESTS).filter(isOfMachines);

function isOfMachines(folder: string): boolean {
  return folder.startsWith('machines/');
}
