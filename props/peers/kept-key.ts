// A key that a Sensor finds in its folder, as one that was ended while it enrolled: to make one takes longer than most tests.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STATE_FILES } from '../../sensor/state-directory/identity.ts';
import { generateKeyPem } from '../../sensor/transport/signing-request.ts';

let made: Promise<string> | null = null;

/** Puts the key of this process, made once, where the next enrollment takes it from. */
export async function keepKey(stateDir: string): Promise<void> {
  made ??= generateKeyPem();
  await writeFile(join(stateDir, STATE_FILES.nextKey), await made, { mode: 0o600 });
}
