// The one line that enrols a node, wherever it is shown. Pasted on the node it fetches the Console's own script, pinned by
// the Console's key, which then asks for the token: the token stands in no argument and in no shell's history. decision: D68

export type EnrollFacts = {
  /** Where the node reaches this Console. */
  readonly url: string;
  /** Base64 of the SHA-256 of the listener's public key. */
  readonly keyPin: string;
  /** Hex, with or without colons. */
  readonly caFingerprint: string;
  readonly flavor: 'standard' | 'telecom';
};

/** The line, whole. */
export function enrollLine({ url, keyPin, caFingerprint, flavor }: EnrollFacts): string {
  const fingerprint = caFingerprint.replaceAll(':', '').toLowerCase();
  const fetch = `curl -fsSk --pinnedpubkey sha256//${keyPin} ${url}/install.sh`;
  return `sh -c "$(${fetch})" install --url ${url} --flavor ${flavor} --ca-fingerprint ${fingerprint}`;
}

/** The same line for a shell, broken between its words so that no terminal of this width breaks it elsewhere. */
export function foldLine(line: string, columns: number, indent = ''): string {
  const rows: string[] = [];
  let row = '';
  for (const word of line.split(' ')) {
    const longer = row === '' ? word : `${row} ${word}`;
    // The continuation takes a space and a backslash.
    if (row !== '' && indent.length + longer.length + 2 > columns) {
      rows.push(row);
      row = word;
    } else row = longer;
  }
  return [...rows, row].map((one) => indent + one).join(' \\\n');
}
