// Writes the bills of materials of both programs into `dist/`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAMS, type ProgramName, sbomOf } from './sbom.ts';

const folder = join(import.meta.dirname, '..', '..', 'dist');
mkdirSync(folder, { recursive: true });
for (const program of Object.keys(PROGRAMS) as ProgramName[]) {
  const file = join(folder, `${program}.cdx.json`);
  writeFileSync(file, sbomOf(program));
  console.log(file);
}
