// How long each function of the programs is, from its name to its end; tests and the proofs are told in one breath.
import ts from 'typescript';
import { filesLike, textOf } from './files.ts';

const PROGRAMS = /^(machines|actors|gateway|storage|sensor)\/.*\.tsx?$/;
const TESTS = /\.(test|fixture)\.tsx?$|-rig\.ts$/;

/** Lines of every function that has more than `linesMax`, by its file and name. */
export function longFunctions(linesMax: number): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const path of filesLike(PROGRAMS)) {
    if (TESTS.test(path)) continue;
    const source = ts.createSourceFile(path, textOf(path), ts.ScriptTarget.Latest, true);
    const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line;
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
        const lines = lineOf(node.getEnd()) - lineOf(node.getStart()) + 1;
        const name = `${path} ${nameOf(node)}`;
        if (lines > linesMax) found[name] = Math.max(lines, found[name] ?? 0);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Its own name, or that of what it is given to. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText();
  }
  return ts.isCallExpression(parent) ? `in ${parent.expression.getText()}` : 'unnamed';
}
