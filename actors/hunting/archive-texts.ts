// The pages in an archive that people read. Everything shown came from nodes and operators, so it is escaped; the page has
// no script and may load nothing.
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { TimelineEntry } from './investigation-timeline.ts';
import type { InvestigationDocument } from './investigations.ts';

export type ArchiveContent = {
  readonly investigation: InvestigationDocument;
  readonly entries: readonly TimelineEntry[];
  readonly events: ReadonlyMap<string, StoredEvent>;
  readonly by: string;
  readonly atMs: number;
};

/** How to verify it without the Console. */
export function archiveReadme(id: string): string {
  return `An investigation, exported with everything that was collected in it.

  index.html          to read in any browser, without a network
  investigation.json  its name, severity, state, and who moved it
  timeline.ndjson     what was collected, in the order of time
  events.ndjson       every event of it that was still kept
  manifest.json       every file with its length and SHA-256
  manifest.sig        Ed25519 signature of manifest.json, 64 bytes
  public-key.pem      the key that signed it

To verify it with the program of the Console, which needs no Console to run:

  service-console investigations verify FILE.tar.gz --key console-key.pem

To verify it without:

  tar xzf FILE.tar.gz && cd investigation-${id}
  openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in manifest.json -sigfile manifest.sig
  sha256sum *          compare with manifest.json

A key in the archive proves nothing by itself: compare public-key.pem with the key of the Console's audit checkpoints,
as its audit export names it.
`;
}

/** The investigation as one page. */
export function archivePage(content: ArchiveContent): string {
  const { investigation, entries, events, by, atMs } = content;
  const { name, summary, severity, standing, createdBy } = investigation.body;
  const facts: readonly (readonly [string, string])[] = [
    ...[['Severity', severity] as const, ['State', standing.state] as const],
    ...[
      ['Outcome', standing.outcome ?? '-'] as const,
      ['Assignee', standing.assignee ?? '-'] as const,
    ],
    ...[['Begun by', createdBy] as const, ['Begun', timeOf(investigation.createdAtMs)] as const],
    ['Exported', `${timeOf(atMs)} by ${by}`],
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${safe(name)}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
th{text-align:left;font-weight:600;padding-right:1.5rem}td,th{vertical-align:top;padding-bottom:.4rem}
td{overflow-wrap:anywhere}code{font-size:13px}</style></head>
<body><main><h1>${safe(name)}</h1><p>${safe(summary)}</p>
<table>${facts.map(([head, value]) => `<tr><th scope="row">${head}</th><td>${safe(value)}</td></tr>`).join('')}</table>
<h2>Timeline</h2>
<table><thead><tr><th>Time</th><th>What</th><th>Told</th><th>Why it is here</th></tr></thead>
<tbody>${entries.map((entry) => rowOf(entry, events)).join('\n')}</tbody></table>
</main></body></html>
`;
}

function rowOf(entry: TimelineEntry, events: ReadonlyMap<string, StoredEvent>): string {
  const cells = entry.is === 'move' ? moveCells(entry) : itemCells(entry, events);
  const shown = [timeOf(entry.atMs), ...cells].map((one) => `<td>${safe(one)}</td>`);
  return `<tr>${shown.join('')}</tr>`;
}

function moveCells({ move }: Extract<TimelineEntry, { is: 'move' }>): readonly string[] {
  return [`${move.from} to ${move.to}`, `by ${move.by}`, move.text];
}

function itemCells(
  { item }: Extract<TimelineEntry, { is: 'item' }>,
  events: ReadonlyMap<string, StoredEvent>,
): readonly string[] {
  switch (item.what) {
    case 'note':
      return ['note', item.note, `by ${item.addedBy}`];
    case 'alert':
      return ['alert', item.headline, item.note];
    case 'sensor':
      return ['sensor', item.nodeName, item.note];
    case 'event': {
      const event = events.get(item.eventId);
      const told = event === undefined ? 'kept no more' : `${event.node_name}: ${event.message}`;
      return [event?.event_kind ?? 'event', told, item.note];
    }
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
};

/** No markup, no control characters, and no marks that turn text around. */
function safe(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
