// Wrong codes of the first run, kept until there is a database to audit them in: rows as the audit log takes them, one a
// place and minute, at most so many; what came before those is one row that says how often. decision: D64; invariant: I10
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { SETUP_REFUSALS_KEPT_MAX } from '../../machines/limits.ts';
import type { AuditEntry } from '../../storage/ports/audit/audit-log.ts';

const Text = Type.String({ maxLength: 256 });
const Row = Type.Object(
  {
    atMs: Type.Number(),
    ...{ actor: Text, target: Text, result: Text, from: Text },
    action: Type.Literal('credential.refused'),
    detail: Type.Object({ count: Type.Number(), first_at_ms: Type.Number() }),
  },
  { additionalProperties: false },
);
type Row = Type.Static<typeof Row>;
const check = Compile(Type.Array(Row));
const ELSEWHERE = 'elsewhere';

/** What was kept; a text that cannot be understood is as good as none. */
export function readRefusals(text: string | undefined): readonly Row[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return check.Check(value) ? value : [];
  } catch {
    return [];
  }
}

/** The text to keep when more were refused; the oldest beyond the bound are counted in one row. */
export function withRefusals(kept: readonly Row[], more: readonly AuditEntry[]): string {
  const fresh: unknown = more;
  const all = check.Check(fresh) ? [...kept, ...fresh] : [...kept];
  const beyond = all.length - SETUP_REFUSALS_KEPT_MAX;
  if (beyond <= 0) return JSON.stringify(all);
  const [first, ...others] = all.splice(0, beyond + 1);
  if (first === undefined) return JSON.stringify(all);
  const count = others.reduce((sum, { detail }) => sum + detail.count, first.detail.count);
  const atMs = others.at(-1)?.atMs ?? first.atMs;
  const folded = { ...first, atMs, from: ELSEWHERE, detail: { ...first.detail, count } };
  return JSON.stringify([folded, ...all]);
}
