// The Console as one archive for linux-x64, for those who have a PostgreSQL and a ClickHouse of their own: the bundled
// Node, the Console's files, the page as it was built, the packages they need for this one platform, and the Sensor's
// archive that it serves. Neither the embedded databases nor what builds or tests anything is in it. decision: D115
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, hashOfSources } from '../../gateway/page/page-sources.ts';
import {
  copy,
  isNode,
  ownFiles,
  type Package,
  packageProgram,
  ROOT,
  recordOf,
  stageAbout,
  stageNode,
  stagePackage,
  write,
} from './archive.ts';
import { importedByServer, packagesOf, sbomOf } from './sbom.ts';
import { packageSensor } from './sensor-package.ts';

const PARTS = join(import.meta.dirname, 'console');
const OWN = ['machines', 'actors', 'gateway', 'storage', 'sensor/engine/native/NOTICE.md'];
const NOT_SHIPPED =
  /\.(test|fixture|services\.test)\.tsx?$|\.d\.ts$|(^|\/)(README|ERRORS|AUDIT|LIMITS)\.md$|(^|\/)\.|^gateway\/web\/|^gateway\/page\/build-page\.ts$/;
/** The database tier that is named instead, and types. */
const LEFT_OUT = ['chdb', '@types/node', '@types/pg'];
/** Binaries of other systems and of other versions of Node. */
const OF_ANOTHER = new RegExp(
  `^uws_(?!${process.platform}_${process.arch}_${process.versions.modules}\\.).*\\.node$`,
);

/** Makes the archive and its checksum in a folder; each appears whole or not at all. Throws why it cannot be made. */
export function packageConsole(folder: string): Promise<Package> {
  return packageProgram(folder, 'service-console', stageConsole);
}

async function stageConsole(stage: string): Promise<void> {
  const page = join(DIST, hashOfSources());
  if (!existsSync(page)) throw new Error('the page is not built: npm run build:web');
  for (const file of ownFiles(OWN)) {
    if (!NOT_SHIPPED.test(file)) copy(join(ROOT, file), join(stage, file));
  }
  copy(page, page.replace(ROOT, stage));
  // What of a package is for another platform is in the lock and not installed.
  const packages = packagesOf('service-console', LEFT_OUT, importedByServer()).filter(
    (path) => !isNode(path) && existsSync(join(ROOT, path)),
  );
  for (const path of packages) stagePackage(path, stage, (inside) => !OF_ANOTHER.test(inside));
  stageNode(stage);
  // The first word of a start is that everything the lock names is there.
  for (const name of ['package-lock.json', 'node_modules/.package-lock.json']) {
    write(stage, name, recordOf(packages));
  }
  stageAbout(stage, {
    ...{ name: 'service-console', program: 'Console', packages },
    bill: sbomOf('service-console', LEFT_OUT),
    more: 'What the page is built from is in it as well; service-console.cdx.json names it.\n',
  });
  await packageSensor(join(stage, 'dist'));
  for (const name of readdirSync(PARTS)) {
    const to = name === 'service-console' ? join(stage, 'bin', name) : join(stage, name);
    copy(join(PARTS, name), to);
    if (!name.endsWith('.service')) chmodSync(to, 0o755);
  }
}
