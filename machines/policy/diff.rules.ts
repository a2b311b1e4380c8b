// What changed between two texts, line by line: the longest common lines stay, the others go or come.
export type DiffLine = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** Every line of both, in an order in which both can be read. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const width = b.length + 1;
  // How many lines are common from here on, for every pair of places.
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [gone, come] = [a[i], b[j]];
    if (gone !== undefined && gone === come) {
      lines.push({ sign: ' ', text: gone });
      i += 1;
      j += 1;
    } else if (
      gone !== undefined &&
      (come === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push({ sign: '-', text: gone });
      i += 1;
    } else if (come !== undefined) {
      lines.push({ sign: '+', text: come });
      j += 1;
    }
  }
  return lines;
}

export type PolicyTexts = readonly { readonly name: string; readonly yaml: string }[];
export type PolicyDiff = {
  readonly name: string;
  readonly what: 'added' | 'removed' | 'changed';
  readonly lines: readonly DiffLine[];
};

/** The policies that are not the same in both, by name. */
export function diffPolicies(before: PolicyTexts, after: PolicyTexts): readonly PolicyDiff[] {
  const [old, next] = [before, after].map((all) => new Map(all.map((one) => [one.name, one.yaml])));
  const names = [...new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])])].sort();
  return names.flatMap((name): readonly PolicyDiff[] => {
    const [was, is] = [old?.get(name), next?.get(name)];
    if (was === is) return [];
    if (was === undefined) return [{ name, what: 'added', lines: diffLines('', is ?? '') }];
    if (is === undefined) return [{ name, what: 'removed', lines: diffLines(was, '') }];
    return [{ name, what: 'changed', lines: diffLines(was, is) }];
  });
}
