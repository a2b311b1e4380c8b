// A digest as sections of words, the same for mail as text and as HTML. Texts of nodes come out of here harmless: one line,
// no character that turns or hides others, and nothing that a mail program would make a link of. decision: D166

import { ALERT_SEVERITIES } from '../delivery/alert.ts';
import { cut, oneLine } from '../delivery/formats/text.ts';
import type { Asked, Digest, DigestLicense, Some } from './digest.ts';
import { DIGEST_LICENSE_SOON_MS, DIGEST_TEXT_MAX_CHARS } from './limits.ts';

export type DigestItem = {
  readonly mark: string;
  readonly text: string;
  readonly note: string;
  /** Below the Console's address; null: no link. */
  readonly path: string | null;
};
export type DigestSection = {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly items: readonly DigestItem[];
  /** Stands below the items. */
  readonly note: string | null;
};

/** Text of others as a mail shows it. */
export function shown(text: string): string {
  const line = oneLine(text.toWellFormed()).replaceAll(/[\p{Cf}\p{Co}\p{Cn}]/gu, '');
  // A break that nobody sees, where an address would begin or go on.
  return cut(line, DIGEST_TEXT_MAX_CHARS).replaceAll(/[:@]|\.(?=[^\s.])/g, '$&\u200b');
}

/** What stands in the line of the subject. */
export function subjectOf(digest: Digest): string {
  const { isTest, day, alerts, trouble } = digest;
  const opened = ALERT_SEVERITIES.reduce((sum, one) => sum + alerts.opened[one], 0);
  const parts = [`${countText(opened, 'alert')}`, `${trouble.total} in trouble`];
  return `${isTest ? '[Test] ' : ''}${scopeText(digest)}, ${day}: ${parts.join(', ')}`;
}

/** What a digest is of. */
export function scopeText({ group }: Pick<Digest, 'group'>): string {
  return group === null ? 'Fleet digest' : `Digest of ${shown(group)}`;
}

/** The stretch that it tells of. */
export function stretchText({ fromMs, toMs, timeZone }: Digest): string {
  return `${timeText(fromMs)} to ${timeText(toMs)} UTC, a day of ${timeZone}`;
}

/** Every section, in order; those without anything to tell say so. */
export function sectionsOf(digest: Digest): readonly DigestSection[] {
  return [
    ...untoldSection(digest),
    countsSection(digest),
    alertsSection(digest),
    troubleSection(digest),
    programsSection(digest),
    coverageSection(digest),
    certificatesSection(digest),
    licenseSection(digest.license, digest.madeAtMs),
  ];
}

function untoldSection({ untold }: Digest): readonly DigestSection[] {
  if (untold.length === 0) return [];
  const words: Readonly<Record<string, string>> = {
    missed: 'was missed: the Console did not run, or not long enough',
    failed: 'could not be handed over',
    unsure: 'may not have arrived',
  };
  const items = untold.map(({ day, state }) => item(day, words[state] ?? state));
  return [{ title: 'Not told before', facts: [], items, note: 'The Console shows these days.' }];
}

function countsSection({ sensors }: Digest): DigestSection {
  return {
    title: 'Sensors',
    facts: [
      ['In all', String(sensors.total)],
      ['Healthy', String(sensors.healthy)],
      ['Enrolled in this time', String(sensors.enrolled)],
      ['Revoked', String(sensors.revoked)],
      ['Contained', String(sensors.contained)],
    ],
    ...{ items: [], note: null },
  };
}

function alertsSection({ alerts }: Digest): DigestSection {
  const least = alerts.isWhole ? '' : 'at least ';
  return {
    title: 'Alerts',
    facts: [...ALERT_SEVERITIES]
      .reverse()
      .map((one) => [one, `${least}${alerts.opened[one]}`] as const),
    items: alerts.top.map((one) => ({
      mark: one.severity,
      text: shown(one.headline),
      note: `${shown(one.nodeName)}, ${one.state}, ${countText(one.count, 'match', 'matches')}`,
      path: `/alerts/${encodeURIComponent(one.alertId)}`,
    })),
    note: alerts.top.length === 0 ? 'None began.' : null,
  };
}

function troubleSection({ trouble }: Digest): DigestSection {
  const items = trouble.items.map((one) => ({
    ...item(shown(one.nodeName), one.why.map(shown).join(', ')),
    path: `/sensors/${encodeURIComponent(one.sensorId)}`,
  }));
  return { title: 'Sensors in trouble', facts: [], items, note: noteOf(trouble) };
}

function programsSection({ programs }: Digest): DigestSection {
  const title = 'New programs';
  if (typeof programs === 'string') return withoutAnswer(title, programs);
  const items = programs.items.map(({ binary, sensors, nodeName }) =>
    item(shown(binary), `${countText(sensors, 'sensor')}, among them ${shown(nodeName)}`),
  );
  return { title, facts: [], items, note: noteOf(programs) };
}

function coverageSection({ coverage }: Digest): DigestSection {
  const title = 'Coverage';
  if (typeof coverage === 'string') return withoutAnswer(title, coverage);
  const { seen, lost, losses, worst } = coverage;
  const all = seen + lost;
  const share = all === 0 ? 'nothing was produced' : `${shareText(seen, all)} of the events`;
  return {
    title,
    facts: [
      ['Stored', share],
      ['Events', String(seen)],
      ['Lost', String(lost)],
      ...Object.entries(losses).map(([place, count]) => [place, String(count)] as const),
    ],
    items: worst.items.map((one) => item(shown(one.nodeName), countText(one.lost, 'event'))),
    note: lost === 0 ? null : noteOf(worst),
  };
}

function certificatesSection({ certificates, madeAtMs }: Digest): DigestSection {
  const items = certificates.items.map(({ nodeName, notAfterMs, sensorId }) => ({
    ...item(
      shown(nodeName),
      `${notAfterMs <= madeAtMs ? 'ended' : 'ends'} ${timeText(notAfterMs)} UTC`,
    ),
    path: `/sensors/${encodeURIComponent(sensorId)}`,
  }));
  return { title: 'Certificates that end soon', facts: [], items, note: noteOf(certificates) };
}

function licenseSection(license: DigestLicense, nowMs: number): DigestSection {
  const { phase, validUntilMs, graceUntilMs, nodesMax } = license;
  const isSoon = validUntilMs !== null && validUntilMs - nowMs < DIGEST_LICENSE_SOON_MS;
  return {
    title: 'License',
    facts: [
      ['State', phase === 'valid' && isSoon ? 'valid, ends soon' : phase],
      ...(validUntilMs === null ? [] : [['Ends', `${timeText(validUntilMs)} UTC`] as const]),
      ...(graceUntilMs === null ? [] : [['Grace ends', `${timeText(graceUntilMs)} UTC`] as const]),
      ...(nodesMax === null ? [] : [['Nodes', String(nodesMax)] as const]),
    ],
    ...{ items: [], note: null },
  };
}

function withoutAnswer(title: string, why: Exclude<Asked<object>, object>): DigestSection {
  const note =
    why === 'unavailable'
      ? 'The event store did not answer when this was made.'
      : 'There were too many events to look through.';
  return { title, facts: [], items: [], note };
}

function item(text: string, note: string): DigestItem {
  return { mark: '', text, note, path: null };
}

function noteOf({ items, total }: Some<unknown>): string | null {
  if (total === 0) return 'None.';
  return total > items.length ? `And ${total - items.length} more.` : null;
}

function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Never 100 % when something is missing. */
function shareText(part: number, all: number): string {
  return `${(Math.floor((part / all) * 10_000) / 100).toFixed(2)} %`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
