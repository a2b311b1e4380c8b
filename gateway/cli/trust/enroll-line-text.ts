// How commands tell the line that enrols a node.
import { foldLine } from '../../operator-plane/trust/enroll-line.ts';
import { plain, type Terminal } from '../plumbing/terminal.ts';

const COLUMNS = 80;

/** Tells the line, folded so that it can be copied from a narrow terminal. */
export function tellEnrollLine(terminal: Pick<Terminal, 'talk'>, line: string): void {
  terminal.talk('Paste this on the node; it asks for the token:');
  terminal.talk(foldLine(plain(line), COLUMNS));
}
