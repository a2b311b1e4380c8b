// A tar as `tar` itself makes and reads it (ustar), of plain files in one folder. Reading takes nothing else: no folder,
// no link, no name with a slash but the one of the folder.

const BLOCK = 512;
const MODE = '0000644';
const NAME_BYTES = 100;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export type TarFile = { readonly name: string; readonly content: Uint8Array };

/** Writes files below a folder; names and the folder are short and plain ASCII. */
export function tarOf(folder: string, files: readonly TarFile[], atMs: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { name, content } of files) {
    parts.push(headOf(`${folder}/${name}`, content.length, atMs), content);
    const rest = content.length % BLOCK;
    if (rest > 0) parts.push(new Uint8Array(BLOCK - rest));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The files in a tar, without their folder; null when it is not such a tar. */
export function filesInTar(tar: Uint8Array, filesMax: number): readonly TarFile[] | null {
  const files: TarFile[] = [];
  const names = new Set<string>();
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const head = tar.subarray(at, at + BLOCK);
    if (head.every((byte) => byte === 0)) return files;
    const read = readHead(head);
    if (read === null || names.has(read.name) || files.length >= filesMax) return null;
    const from = at + BLOCK;
    if (from + read.bytes > tar.length) return null;
    names.add(read.name);
    files.push({ name: read.name, content: tar.subarray(from, from + read.bytes) });
    at = from + Math.ceil(read.bytes / BLOCK) * BLOCK;
  }
  return null;
}

function headOf(path: string, bytes: number, atMs: number): Uint8Array {
  const head = new Uint8Array(BLOCK);
  const put = (text: string, at: number): void => head.set(encoder.encode(text), at);
  put(path.slice(0, NAME_BYTES), 0);
  put(`${MODE}\0`, 100);
  put('0000000\0', 108);
  put('0000000\0', 116);
  put(`${octal(bytes, 11)}\0`, 124);
  put(`${octal(Math.floor(atMs / 1_000), 11)}\0`, 136);
  put('        ', 148);
  put('0', 156);
  put('ustar\0', 257);
  put('00', 263);
  put(`${octal(sumOf(head), 6)}\0 `, 148);
  return head;
}

function readHead(head: Uint8Array): { readonly name: string; readonly bytes: number } | null {
  const path = textAt(head, 0, NAME_BYTES);
  const size = textAt(head, 124, 12);
  const sum = textAt(head, 148, 8);
  if (path === null || size === null || sum === null) return null;
  const kind = head[156];
  if (textAt(head, 257, 5) !== 'ustar' || (kind !== 0 && kind !== 0x30)) return null;
  const unsummed = head.slice();
  unsummed.fill(0x20, 148, 156);
  if (!/^[0-7]{1,7}$/.test(sum.trim()) || Number.parseInt(sum, 8) !== sumOf(unsummed)) return null;
  if (!/^[0-7]{1,12}$/.test(size.trim())) return null;
  const names = path.split('/');
  const [folder = '', name = ''] = names;
  if (names.length !== 2 || folder === '' || name === '') return null;
  return { name, bytes: Number.parseInt(size, 8) };
}

function textAt(head: Uint8Array, at: number, length: number): string | null {
  const field = head.subarray(at, at + length);
  const end = field.indexOf(0);
  try {
    return decoder.decode(end === -1 ? field : field.subarray(0, end));
  } catch {
    return null;
  }
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function sumOf(head: Uint8Array): number {
  return head.reduce((sum, byte) => sum + byte, 0);
}
