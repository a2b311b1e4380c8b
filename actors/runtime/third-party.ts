// What other people wrote and this installation runs, with its licences: from npm's own record of what it installed, and
// the notice of what the engine is linked with.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const NOTICE = join(ROOT, 'sensor', 'engine', 'native', 'NOTICE.md');

type Installed = { readonly version?: string; readonly license?: string; readonly dev?: boolean };
export type ThirdParty = {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
};

/** The packages that are installed and not for development only, by name. */
export function thirdPartyPackages(): readonly ThirdParty[] {
  const record = join(ROOT, 'node_modules', '.package-lock.json');
  const { packages }: { packages: Record<string, Installed> } = JSON.parse(
    readFileSync(record, 'utf8'),
  );
  return Object.entries(packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([path, { version = '', license = 'unknown' }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      license,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What `version --licenses` prints: a line a package, then the notice of the engine where it is installed. */
export function licenseText(): string {
  const lines = thirdPartyPackages().map(
    ({ name, version, license }) => `${name} ${version}  ${license}`,
  );
  const notice = existsSync(NOTICE) ? `\n${readFileSync(NOTICE, 'utf8')}` : '';
  return [
    'This program is licensed under Apache-2.0 (LICENSE). It runs these packages; the text of each',
    'licence lies in node_modules/NAME:',
    '',
    ...lines,
    notice,
  ].join('\n');
}
