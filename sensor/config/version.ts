// The Sensor's version, as package.json names it.
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
export const SENSOR_VERSION: string = String((JSON.parse(text) as { version?: unknown }).version);
