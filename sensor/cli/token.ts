// The token comes from a file, standard input or the environment, never from argv, where every user could read it.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

const TOKEN_MAX_CHARS = 128;

/** The token, or null when none is given or the file is not there. */
export async function readToken(
  file: string | null,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const raw =
    file === '-'
      ? await text(process.stdin)
      : file === null
        ? (env['SERVICE_SENSOR_TOKEN'] ?? '')
        : await readFile(file, 'utf8').catch(() => '');
  const token = raw.trim();
  return token === '' || token.length > TOKEN_MAX_CHARS ? null : token;
}
