// From policies to the file the engine reads: a word after another, a line for each thing, and `%XX` for every byte of a
// text that is not plain. The last line is `end`, so that a torn file is known for one. decision: D45
import type { Policy, PolicyHook, PolicySelector } from '../../../machines/policy/policy.ts';

/** The lines of one policy; `digest` tells its versions apart. */
export function compilePolicy(policy: Policy, digest: string): string {
  const head = `policy ${word(policy.name)} ${policy.mode} ${word(digest)}`;
  return [head, ...policy.hooks.flatMap(hookLines)].map((line) => `${line}\n`).join('');
}

/** The whole file. `revision` is told back by the engine when it has read it. */
export function compileFile(revision: number, policies: readonly string[]): string {
  return `policies 1 ${revision}\n${policies.join('')}end\n`;
}

/** The revision of a file that was written so; 0 where it is none. */
export function compiledRevision(text: string): number {
  const told = Number(/^policies 1 (\d{1,15})\n/.exec(text)?.[1] ?? 0);
  return Number.isSafeInteger(told) ? told : 0;
}

function hookLines(hook: PolicyHook): readonly string[] {
  const lines = [`hook ${hook.kind} ${word(hook.category)} ${word(hook.event)}`];
  if (hook.message !== null) lines.push(`message ${word(hook.message)}`);
  for (const tag of hook.tags) lines.push(`tag ${word(tag)}`);
  for (const { index, kind, sizeIndex, label } of hook.args) {
    lines.push(`arg ${index} ${kind} ${sizeIndex ?? '-'} ${label === null ? '-' : word(label)}`);
  }
  return [...lines, ...hook.selectors.flatMap(selectorLines)];
}

function selectorLines(selector: PolicySelector): readonly string[] {
  const { pids, binaries, namespaces, capabilities, args } = selector;
  const lines = ['selector'];
  if (pids !== null) {
    const whose = pids.isOwn ? 'own' : 'host';
    lines.push(`pids ${within(pids.isNot)} ${whose} ${pids.values.join(' ')}`);
  }
  for (const { kind, isNot, values } of namespaces) {
    lines.push(`ns ${kind} ${within(isNot)} ${values.join(' ')}`);
  }
  for (const { set, isNot, values } of capabilities) {
    const mask = values.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    lines.push(`caps ${set} ${within(isNot)} ${mask}`);
  }
  for (const { slot, operator, isNot, values } of args) {
    lines.push(`match ${slot} ${operator} ${within(isNot)} ${values.map(word).join(' ')}`);
  }
  // Last: a path costs more than anything above.
  if (binaries !== null) {
    const { operator, isNot, values } = binaries;
    lines.push(`match binary ${operator} ${within(isNot)} ${values.map(word).join(' ')}`);
  }
  const { isSilent, signal, override } = selector;
  lines.push(`act ${isSilent ? 'silent' : 'post'} ${signal} ${override}`);
  return lines;
}

function within(isNot: boolean): string {
  return isNot ? 'not' : 'in';
}

const NOT_PLAIN = /[^A-Za-z0-9/._:-]/gu;

/** One word: what is not plain, byte by byte. A word that is only `-` would mean that there is none. */
function word(text: string): string {
  if (text === '-') return '%2D';
  return text.replace(NOT_PLAIN, (sign) =>
    [...Buffer.from(sign)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}
