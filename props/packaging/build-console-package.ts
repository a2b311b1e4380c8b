// `npm run package:console`: writes the Console's archive and its checksum into `dist/`.
import { join } from 'node:path';
import { packageConsole } from './console-package.ts';

const { archive, sha256 } = await packageConsole(join(import.meta.dirname, '..', '..', 'dist'));
console.log(`${sha256}  ${archive}`);
