// Makes a binary that was linked against glibc 2.38 loadable on an older one. decision: D2
// Only the `__isoc23_` variants of sscanf and strtol bind to GLIBC_2.38; the plain functions of GLIBC_2.2.5 do the
// same for what the binary needs. The dynamic symbol's name is moved past the prefix (the string table already holds
// the suffix), its version becomes the one of GLIBC_2.2.5, and the requirement of GLIBC_2.38 is marked weak.
// Pure: bytes in, bytes out. Anything unexpected refuses, since a wrongly patched binary is worse than none.

const NEW_VERSION = 'GLIBC_2.38';
const OLD_VERSION = 'GLIBC_2.2.5';
const LIBRARY = 'libc.so.6';
const PREFIX = '__isoc23_';

const ELF_MAGIC = 0x7f454c46;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const MACHINE_X64 = 62;
const SHT_DYNSYM = 11;
const SHT_GNU_VERNEED = 0x6ffffffe;
const SHT_GNU_VERSYM = 0x6fffffff;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const VER_FLG_WEAK = 2;
const VERSION_INDEX_MASK = 0x7fff;
const VERSIONS_MAX = 1_024;

export type CureResult =
  | { readonly ok: true; readonly image: Buffer; readonly symbols: readonly string[] }
  | { readonly ok: false; readonly reason: string };

type Section = { offset: number; size: number; link: number };
type Versions = { needed: number; plain: number; flagsAt: number };

/** Returns a patched copy of an ELF64 x64 image; the input is left alone. Never throws. */
export function cureGlibc(image: Buffer): CureResult {
  try {
    return patch(Buffer.from(image));
  } catch (error) {
    return { ok: false, reason: `the binary cannot be read as ELF: ${String(error)}` };
  }
}

function patch(image: Buffer): CureResult {
  if (image.readUInt32BE(0) !== ELF_MAGIC || image[4] !== CLASS_64 || image[5] !== LITTLE_ENDIAN)
    return { ok: false, reason: 'the binary is not a 64-bit little-endian ELF file' };
  if (image.readUInt16LE(18) !== MACHINE_X64)
    return { ok: false, reason: 'the binary is not built for x64' };
  const sections = readSections(image);
  const symbols = sections.get(SHT_DYNSYM);
  const needed = sections.get(SHT_GNU_VERNEED);
  const versions = sections.get(SHT_GNU_VERSYM);
  const strings = symbols && readSection(image, symbols.link);
  if (!symbols || !needed || !versions || !strings)
    return { ok: false, reason: 'the binary has no versioned dynamic symbols' };
  const found = findVersions(image, needed, strings);
  if (!found) return { ok: false, reason: `the binary does not need ${NEW_VERSION}` };
  const renamed: string[] = [];
  for (let index = 0; index < symbols.size / SYMBOL_BYTES; index += 1) {
    const versionAt = versions.offset + index * 2;
    if ((image.readUInt16LE(versionAt) & VERSION_INDEX_MASK) !== found.needed) continue;
    const nameAt = symbols.offset + index * SYMBOL_BYTES;
    const name = readName(image, strings, image.readUInt32LE(nameAt));
    if (!name.startsWith(PREFIX) || name.length === PREFIX.length)
      return { ok: false, reason: `the symbol ${name} has no plain counterpart` };
    image.writeUInt32LE(image.readUInt32LE(nameAt) + PREFIX.length, nameAt);
    image.writeUInt16LE(found.plain, versionAt);
    renamed.push(name);
  }
  if (renamed.length === 0) return { ok: false, reason: `no symbol is bound to ${NEW_VERSION}` };
  image.writeUInt16LE(VER_FLG_WEAK, found.flagsAt);
  return { ok: true, image, symbols: renamed };
}

function readSections(image: Buffer): Map<number, Section> {
  const count = image.readUInt16LE(60);
  const sections = new Map<number, Section>();
  for (let index = 0; index < count; index += 1) {
    const at = sectionHeaderAt(image, index);
    sections.set(image.readUInt32LE(at + 4), readSection(image, index));
  }
  return sections;
}

function sectionHeaderAt(image: Buffer, index: number): number {
  return Number(image.readBigUInt64LE(40)) + index * SECTION_HEADER_BYTES;
}

function readSection(image: Buffer, index: number): Section {
  const at = sectionHeaderAt(image, index);
  return {
    offset: Number(image.readBigUInt64LE(at + 24)),
    size: Number(image.readBigUInt64LE(at + 32)),
    link: image.readUInt32LE(at + 40),
  };
}

/** Walks `.gnu.version_r`; only libc's entries count, libm lists the same version names under other indexes. */
function findVersions(image: Buffer, needed: Section, strings: Section): Versions | undefined {
  let file = needed.offset;
  for (let files = 0; files < VERSIONS_MAX; files += 1) {
    if (readName(image, strings, image.readUInt32LE(file + 4)) === LIBRARY) {
      return findInLibrary(image, file, strings);
    }
    const next = image.readUInt32LE(file + 12);
    if (next === 0) return undefined;
    file += next;
  }
  return undefined;
}

function findInLibrary(image: Buffer, file: number, strings: Section): Versions | undefined {
  let entry = file + image.readUInt32LE(file + 8);
  let neededIndex: number | undefined;
  let plain: number | undefined;
  let flagsAt = 0;
  for (let entries = image.readUInt16LE(file + 2); entries > 0; entries -= 1) {
    const name = readName(image, strings, image.readUInt32LE(entry + 8));
    if (name === NEW_VERSION) {
      neededIndex = image.readUInt16LE(entry + 6);
      flagsAt = entry + 4;
    }
    if (name === OLD_VERSION) plain = image.readUInt16LE(entry + 6);
    entry += image.readUInt32LE(entry + 12);
  }
  if (neededIndex === undefined || plain === undefined) return undefined;
  return { needed: neededIndex, plain, flagsAt };
}

function readName(image: Buffer, strings: Section, offset: number): string {
  const start = strings.offset + offset;
  const end = image.indexOf(0, start);
  if (offset >= strings.size || end < 0) throw new RangeError('a name lies outside its table');
  return image.toString('latin1', start, end);
}
