// The pages on which everything that capabilities declare can be read at once: refusals and numbers. They are written from
// the code by `npm run pages`; a test holds them to it.

import { AUDIT_ACTIONS } from '../../machines/audit-actions.ts';
import * as loopLimits from '../../machines/console/runtime/loop-limits.ts';
import * as firstHourLimits from '../../machines/console/trust/first-hour-limits.ts';
import { ERRORS } from '../../machines/errors.ts';
import * as limits from '../../machines/limits.ts';
import { INTERVALS } from '../../machines/limits.ts';
import * as pipelineLimits from '../../machines/pipeline-limits.ts';
import * as policyLimits from '../../machines/policy/limits.ts';
import * as ebpfLimits from '../../machines/sensor/ebpf-limits.ts';
import * as engineLimits from '../../machines/sensor/engine-limits.ts';
import * as tetragonPolicyLimits from '../../machines/sensor/policy-limits.ts';
import * as tetragonLimits from '../../machines/sensor/tetragon-limits.ts';
import { filesLike, textOf } from '../tidy/files.ts';
import { markdownTable } from './markdown-table.ts';

/** Every number, by name. */
export const LIMITS: Readonly<Record<string, unknown>> = {
  ...limits,
  ...loopLimits,
  ...firstHourLimits,
  ...pipelineLimits,
  ...policyLimits,
  ...tetragonPolicyLimits,
  ...tetragonLimits,
  ...ebpfLimits,
  ...engineLimits,
};

const ERRORS_HEAD = `# Refusals

Every answer that says no is \`application/problem+json\` (RFC 9457) with a stable \`code\` from this table, the same on both
planes. \`detail\` says what was wrong this time, \`errors[]\` names the fields, \`request_id\` finds it in the log.
A client certificate that has expired or comes from another CA usually ends in the TLS handshake instead: the listener
sends the alert \`certificate_expired\` or \`unknown_ca\` and no HTTP answer; broken framing closes the connection.

`;
const LIMITS_HEAD = `# Limits

Every number with a meaning, as \`limits.ts\` has it: the unit stands last in the name. Those marked ✓ are intervals that
\`intervals:\` in \`console.yaml\` or \`sensor.yaml\` may override by name, in milliseconds; broken relations (a staleness
window shorter than two heartbeats, say) are refused at the start, all at once.

`;

/** The page of refusals, by status. */
export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, title, action }]) => [
    ...[`\`${code}\``, String(status), title, action],
  ]);
  rows.sort((a, b) => Number(a[1]) - Number(b[1]));
  return ERRORS_HEAD + markdownTable([['code', 'status', 'meaning', 'what to do'], ...rows]);
}

const AUDIT_HEAD = `# Audit actions

What stands under \`action\` in the audit log. A change or a read that was refused stands there under its method and route.

`;

/** The page of audit actions. */
export function auditPage(): string {
  const rows = Object.entries(AUDIT_ACTIONS).map(([action, meaning]) => [`\`${action}\``, meaning]);
  return AUDIT_HEAD + markdownTable([['action', 'meaning'], ...rows]);
}

/** The page of numbers, section by section as they stand in the code. */
export function limitsPage(): string {
  const files = filesLike(/^machines\/(.*\/)?([a-z-]+-)?limits\.ts$/);
  const first = 'machines/limits.ts';
  const ordered = [first, ...files.filter((path) => path !== first)];
  return `${LIMITS_HEAD}${ordered.flatMap(sectionsOf).join('\n')}`;
}

/** A section is a comment after an empty line, and the numbers below it, up to the next one. */
function sectionsOf(path: string): readonly string[] {
  const sections: { title: string; rows: string[][] }[] = [];
  let [title, before] = ['', ''];
  for (const line of textOf(path).split('\n')) {
    if (line.startsWith('// ') && before === '')
      title = line.slice(3).split(TITLE_ENDS, 1)[0] ?? '';
    before = line;
    const name = /^export const ([A-Z][A-Z0-9_]+) = /.exec(line)?.[1] ?? '';
    const value = LIMITS[name];
    if (typeof value !== 'number') continue;
    if (sections.at(-1)?.title !== title) sections.push({ title, rows: [] });
    const mark = Object.hasOwn(INTERVALS, name) ? '✓' : '';
    sections.at(-1)?.rows.push([`\`${name}\``, value.toLocaleString('en-US', ALL_DIGITS), mark]);
  }
  return sections.map(
    (one) =>
      `## ${one.title} (\`${path}\`)\n\n${markdownTable([['name', 'value', 'override'], ...one.rows])}`,
  );
}

const TITLE_ENDS = /, beside|[.:;](?:\s|$)/;
const ALL_DIGITS = { maximumFractionDigits: 20 } as const;
