// The starter library: policies of our own, each with the ATT&CK technique it looks for and a sentence why. They are files
// like any other, so that an operator reads, changes, signs and publishes them as their own.
import { readdir, readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';

const FOLDER = new URL('./', import.meta.url);
const ENDING = '.yaml';

export type LibraryPolicy = {
  readonly name: string;
  /** Of ATT&CK, such as `T1003.008`. */
  readonly technique: string;
  readonly why: string;
  readonly yaml: string;
};

/** Every policy of the library by its name. */
export async function readLibrary(): Promise<readonly LibraryPolicy[]> {
  const files = (await readdir(FOLDER)).filter((one) => one.endsWith(ENDING)).sort();
  return Promise.all(
    files.map(async (file) => {
      const yaml = await readFile(new URL(file, FOLDER), 'utf8');
      const document = parseDocument(yaml);
      const about = (word: string) =>
        String(document.getIn(['metadata', 'annotations', word]) ?? '');
      const name = file.slice(0, -ENDING.length);
      return { name, technique: about('technique'), why: about('why'), yaml };
    }),
  );
}
