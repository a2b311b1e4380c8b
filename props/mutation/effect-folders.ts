// The folders of effect code that mutation testing covers, with the tests that a mutant of each must face, in their order:
// those that need no database server, no child process and no journey. storage/relational is judged by its contracts, on
// the embedded PostgreSQL.

/** What a score may not fall below, in percent. */
export const FLOORS = { machines: 95, effects: 80 };

const EFFECT_FOLDERS: Readonly<Record<string, readonly string[]>> = {
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
  'storage/relational': ['props/mutation/relational.contracts.ts'],
};

/** The tests of the folder that was asked for by `MUTATE_FOLDER`; null: the machines. */
export function wantedFolder(): {
  readonly folder: string;
  readonly tests: readonly string[];
} | null {
  const folder = process.env['MUTATE_FOLDER'] ?? '';
  if (folder === '') return null;
  const tests = EFFECT_FOLDERS[folder];
  if (tests !== undefined) return { folder, tests };
  throw new Error(`MUTATE_FOLDER is one of ${Object.keys(EFFECT_FOLDERS).join(', ')}`);
}
