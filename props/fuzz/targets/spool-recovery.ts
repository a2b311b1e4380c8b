// Recovery of the spool's journal. The first byte says how the rest is read: as a file of any bytes, or as a script
// that writes a valid journal and then damages it, so that what must be found is known. Recovery invents nothing,
// loses no whole earlier line, and a second recovery finds what the first one left.
import { decodeLine } from '../../../sensor/spool/journal.ts';
import { openJournal } from '../../../sensor/spool/journal-file.ts';
import type { RecoveredJournal } from '../../../sensor/spool/recovery.ts';
import { eventJson, heldBy, journalOf, type Script, STREAM_ID } from '../journal-script.ts';
import { oneFile } from '../one-file.ts';
import type { Random } from '../random.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const STEPS_MAX = 48;
const DAMAGE_BYTES = 3;
const HEAD_BYTES = 2;
const SCRIPT = 1;

const target: FuzzTarget = {
  name: 'spool-recovery',
  modules: [
    'sensor/spool/recovery.ts',
    'sensor/spool/journal.ts',
    'sensor/spool/journal-file.ts',
    'sensor/spool/event-index.ts',
    'machines/sensor/spool.rules.ts',
  ],
  form: 'bytes',
  seeds: () => [
    Buffer.of(SCRIPT, 0),
    Buffer.of(SCRIPT, 3, 0x20, 0x03, 0x04),
    Buffer.of(SCRIPT, 6, 0x30, 0x03, 0x13, 0x14, 0x07, 0x10),
    Buffer.of(SCRIPT, 6, 0x30, 0x30, 0x30, 0x30, 0x03, 0x06, 0, 0, 90),
    Buffer.of(SCRIPT, 3, 0x30, 0x30, 0x07, 1, 0, 20, 1, 1, 20),
    Buffer.of(SCRIPT, 4, 0x30, 0x30, 0x03, 0x04, 2, 0, 3),
    raw(journalOf(Buffer.of(0x20, 0x30, 0x03, 0x04, 0x07, 0x10, 0x13))),
    raw(journalOf(Buffer.of(0x30, 0x30, 0x30, 0x30, 0x30))),
    Buffer.from('\0\n\n{}\n{"crc":"00000000","n":1,"event":{}}\n'),
  ],
  mutate: mutateScript,
  async run(bytes, note) {
    if (bytes[0] !== SCRIPT) return runRaw(bytes.subarray(1), note);
    const steps = Math.min(STEPS_MAX, bytes[1] ?? 0);
    const script = journalOf(bytes.subarray(HEAD_BYTES, HEAD_BYTES + steps));
    await runScript(script, bytes.subarray(HEAD_BYTES + steps), note);
  },
};
export default target;

function raw(script: Script): Buffer {
  return Buffer.from(`\0${script.lines.map((line) => line.text).join('')}`);
}

function mutateScript(bytes: Buffer, random: Random): Buffer {
  if (bytes[0] !== SCRIPT || random.once(8)) {
    const steps = Buffer.from(
      Array.from({ length: random.below(STEPS_MAX) }, () => random.below(256)),
    );
    const damage = Array.from({ length: DAMAGE_BYTES * random.below(3) }, () => random.below(256));
    return Buffer.concat([Buffer.of(SCRIPT, steps.length), steps, Buffer.from(damage)]);
  }
  const end = HEAD_BYTES + Math.min(STEPS_MAX, bytes[1] ?? 0);
  const damage = Buffer.of(random.below(4), random.below(8), random.below(256));
  return Buffer.concat([random.once(3) ? bytes : bytes.subarray(0, end), damage]);
}

async function runRaw(content: Buffer, note: (feature: string) => void): Promise<void> {
  const disk = oneFile(content);
  const { recovered } = await openJournal(disk.files, 'events.jsonl');
  checkHeld(disk.content(), recovered, null);
  // Lines that nobody wrote in this order may be given up one by one; what is held stays readable.
  const again = await openJournal(disk.files, 'events.jsonl');
  checkHeld(disk.content(), again.recovered, null);
  note(`raw ${recovered.streamId !== null} ${Math.min(recovered.damaged, 3)}`);
}

async function runScript(
  script: Script,
  damage: Uint8Array,
  note: (feature: string) => void,
): Promise<void> {
  const whole = Buffer.from(script.lines.map((line) => line.text).join(''));
  const { content, cutAt, hasHoles } = damaged(whole, damage);
  const disk = oneFile(content);
  const { recovered } = await openJournal(disk.files, 'events.jsonl');
  checkHeld(disk.content(), recovered, eventJson);
  checkKept(script, content, recovered);
  if (!hasHoles) checkExactly(script, cutAt ?? whole.length, recovered);
  await checkAgain(disk.content(), recovered, hasHoles);
  note(`script ${hasHoles} ${cutAt !== null} ${Math.min(heldBy(recovered.spool).length, 6)}`);
}

type Damaged = {
  readonly content: Buffer;
  readonly cutAt: number | null;
  readonly hasHoles: boolean;
};

function damaged(whole: Buffer, damage: Uint8Array): Damaged {
  let [content, cutAt, hasHoles] = [Buffer.from(whole), null as number | null, false];
  for (let at = 0; at + DAMAGE_BYTES <= damage.length; at += DAMAGE_BYTES) {
    const place = ((damage[at + 1] ?? 0) << 8) | (damage[at + 2] ?? 0);
    const offset = content.length === 0 ? 0 : place % content.length;
    switch ((damage[at] ?? 0) % 4) {
      case 0:
        content = content.subarray(0, offset);
        cutAt = Math.min(cutAt ?? offset, offset);
        break;
      case 1:
        if (content.length > 0) content[offset] = (content[offset] ?? 0) ^ 0x01;
        hasHoles = true;
        break;
      case 2: {
        const start = offset === 0 ? 0 : content.lastIndexOf(0x0a, offset - 1) + 1;
        const end = content.indexOf(0x0a, offset);
        content = Buffer.concat([content.subarray(0, start), content.subarray(end + 1 || start)]);
        hasHoles = true;
        break;
      }
      default:
    }
  }
  return { content, cutAt, hasHoles };
}

/** Every event that is said to be held can be read where it is said to lie. */
function checkHeld(
  content: Buffer,
  { spool, index, length }: RecoveredJournal,
  jsonOf: ((index: number) => string) | null,
): void {
  demand(length === content.length, 'the file is not cut where its counted part ends');
  demand(length === 0 || content[length - 1] === 0x0a, 'the counted part ends inside a line');
  demand(spool.head <= spool.tail && spool.head >= 0, 'the range of events is turned round');
  for (const at of heldBy(spool)) {
    const place = index.get(at);
    demand(place !== null, 'an event is held without a line');
    const line = decodeLine(content.subarray(place.at, place.at + place.bytes - 1));
    demand(line.kind === 'event' && line.index === at, 'an event lies elsewhere');
    demand(jsonOf === null || line.json.toString() === jsonOf(at), 'an event was invented');
  }
}

/**
 * An event whose line is whole, with two whole changes behind it, is there unless the script let it go. Without the
 * header nobody knows where the range began, so a drop may reach one event further for each line that is lost.
 */
function checkKept(script: Script, content: Buffer, found: RecoveredJournal): void {
  const intact = content
    .toString('latin1')
    .split('\n')
    .slice(0, -1)
    .map((line) => decodeLine(Buffer.from(line, 'latin1')));
  const ends = intact.flatMap(({ kind }, at) => (kind === 'seal' || kind === 'change' ? [at] : []));
  const held = new Set(heldBy(found.spool));
  const wanted = new Set(heldBy(script.state));
  const lost = intact
    .slice(0, ends.at(-2) ?? 0)
    .filter((line) => line.kind === 'event' && wanted.has(line.index) && !held.has(line.index));
  const whole = intact.filter(({ kind }) => kind !== 'damaged').length;
  const allowed = found.streamId === null ? script.lines.length - whole : 0;
  demand(lost.length <= allowed, 'a whole earlier event was lost');
}

/** After a mere cut, or none, exactly the last change that is whole stands. */
function checkExactly(script: Script, length: number, recovered: RecoveredJournal): void {
  let end = 0;
  let last: (typeof script.lines)[number] | undefined;
  for (const line of script.lines) {
    if (end + Buffer.byteLength(line.text) > length) break;
    end += Buffer.byteLength(line.text);
    last = line;
  }
  if (last === undefined || last.after === null) return;
  demandSame(recovered.spool, last.after.state, 'another state stands after a cut');
  demandSame(recovered.cursor, last.after.cursor, 'another cursor stands after a cut');
  demand(recovered.streamId === STREAM_ID, 'the stream is another one');
  demand(recovered.damaged === 0, 'a cut is counted as damage');
}

/**
 * A second recovery finds what the first one left. Where lines in the middle are lost it may give up one append more,
 * together with its cursor, so that its events are read again.
 */
async function checkAgain(
  content: Buffer,
  first: RecoveredJournal,
  hasHoles: boolean,
): Promise<void> {
  const disk = oneFile(content);
  const { recovered } = await openJournal(disk.files, 'events.jsonl');
  const facts = ({ spool, cursor, streamId, length }: RecoveredJournal) =>
    JSON.stringify({ spool, cursor, streamId, length });
  const isSame = facts(recovered) === facts(first);
  const isReadAgain = JSON.stringify(recovered.cursor) !== JSON.stringify(first.cursor);
  demand(isSame || (hasHoles && isReadAgain), 'a second recovery finds something else');
}
