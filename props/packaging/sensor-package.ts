// The Sensor as one archive for linux-x64: the bundled Node, the Sensor's own files at their places, the packages they
// need, the joined modules, and what a system needs to run and to remove it. Nothing is built on the node. decision: D68
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinedName, joinModules } from '../../sensor/cli/joined-modules.ts';
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
import { packagesOf, sbomOf } from './sbom.ts';

const PARTS = join(import.meta.dirname, 'sensor');
const OWN = ['machines', 'actors/runtime', 'sensor'];
/** Joins modules at packaging; a node never does. Types are read by nobody there. */
const BUILD_ONLY = ['rolldown', '@types/node'];
/** What of a joined package a node still asks for. */
const ABOUT = /^(package\.json|licen[cs]e.*)$/i;
const NOT_SHIPPED =
  /(\.test|\.fixture|\.d)\.ts$|\.md$|\.pl$|(^|\/)\.|-rig\.ts$|-rows\.ts$|^machines\/console\/(?!.*\b(limits|errors|error-list)\.ts$)/;
const JOINED = new Set(['node_modules/typebox']);
const NOTICE = 'sensor/engine/native/NOTICE.md';

/** Makes the archive and its checksum in a folder; each appears whole or not at all. Throws why it cannot be made. */
export function packageSensor(folder: string): Promise<Package> {
  return packageProgram(folder, 'service-sensor', stageSensor);
}

async function stageSensor(stage: string): Promise<void> {
  const own = [...ownFiles(OWN).filter((path) => !NOT_SHIPPED.test(path)), NOTICE];
  for (const file of own) copy(join(ROOT, file), join(stage, file));
  const packages = packagesOf('service-sensor', BUILD_ONLY).filter((path) => !isNode(path));
  for (const path of packages) {
    stagePackage(path, stage, (inside) => !JOINED.has(path) || ABOUT.test(inside));
  }
  stageNode(stage);
  await joinModules(join(stage, 'node_modules', '.cache', 'service-sensor', joinedName(ROOT)));
  write(stage, 'node_modules/.package-lock.json', recordOf(packages));
  stageAbout(stage, {
    ...{ name: 'service-sensor', program: 'Sensor', packages },
    bill: sbomOf('service-sensor', BUILD_ONLY),
    more: readFileSync(join(ROOT, NOTICE), 'utf8'),
  });
  for (const name of readdirSync(PARTS)) {
    const to = name === 'service-sensor' ? join(stage, 'bin', name) : join(stage, name);
    copy(join(PARTS, name), to);
    if (!name.endsWith('.service')) chmodSync(to, 0o755);
  }
}
