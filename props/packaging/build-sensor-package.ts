// `npm run package:sensor`: writes the Sensor's archive and its checksum into `dist/`.
import { join } from 'node:path';
import { packageSensor } from './sensor-package.ts';

const { archive, sha256 } = await packageSensor(join(import.meta.dirname, '..', '..', 'dist'));
console.log(`${sha256}  ${archive}`);
