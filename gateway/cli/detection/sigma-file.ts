// A file of Sigma as a rule of our own; what is refused is named by its line. decision: D132
import { isNode, LineCounter, parseDocument } from 'yaml';
import { compileRule } from '../../../machines/detection/rule-compile.ts';
import type { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import { specOfSigma } from '../../../machines/detection/sigma.ts';

export type SigmaFile =
  | { readonly ok: true; readonly ruleId: string; readonly spec: RuleSpec }
  | {
      readonly ok: false;
      readonly refusals: readonly { readonly line: number; readonly reason: string }[];
    };

/** Reads one rule. Never throws. */
export function rulesOfSigma(text: string): SigmaFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, schema: 'core', prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line } = lineCounter.linePos(broken.pos[0]);
    return { ok: false, refusals: [{ line, reason: broken.message.slice(0, 200) }] };
  }
  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: 0 });
  } catch {
    return { ok: false, refusals: [{ line: 1, reason: 'aliases are not known' }] };
  }
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const node: unknown = document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line;
    }
    return 1;
  };
  const read = specOfSigma(data);
  if (!read.ok) {
    return {
      ok: false,
      refusals: read.refusals.map(({ path, reason }) => ({ line: lineOf(path), reason })),
    };
  }
  const ruleId = `sigma-${slugOf(read.spec.rule_name)}`;
  const compiled = compileRule(ruleId, read.spec);
  if (compiled.ok) return { ok: true, ruleId, spec: read.spec };
  const line = lineOf(['detection']);
  return { ok: false, refusals: compiled.faults.map(({ detail: reason }) => ({ line, reason })) };
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 100);
}
