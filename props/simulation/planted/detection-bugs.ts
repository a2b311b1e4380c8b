// Mistakes with alert rules, alerts and saved searches.
import type { SavedSearch } from '../../../machines/console/hunting/saved-search.ts';
import type { AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import type { RuleRow } from '../../../storage/ports/detection/rule-store.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

/** Somebody keeps rules, and programs start often; small accidents keep the world awake. */
const KEPT: PlantedBug['options'] = {
  ...{ ...CALM, keepers: 1, hours: 0.07, quietMs: 1_000 },
  ...{ kinds: ['engine.rotate'], faultsPerHour: 240 },
};

function changeInbox(change: (alerts: AlertStore) => Partial<AlertStore>): ConsoleTampering {
  return {
    relational: (ports) => ({ ...ports, alerts: { ...ports.alerts, ...change(ports.alerts) } }),
  };
}

function changeEvents(change: (events: EventStore) => Partial<EventStore>): ConsoleTampering {
  return {
    analytics: (ports) => ({ ...ports, events: { ...ports.events, ...change(ports.events) } }),
  };
}

/** Each finding, as it is handed over. */
function changeFindings(
  change: (
    findings: Parameters<AlertStore['raise']>[0]['findings'],
  ) => Parameters<AlertStore['raise']>[0]['findings'],
): ConsoleTampering {
  return changeInbox((alerts) => ({
    raise: (input) => alerts.raise({ ...input, findings: change(input.findings) }),
  }));
}

export const DETECTION_BUGS: readonly PlantedBug[] = [
  {
    name: 'match-is-left-out',
    mistake: 'Of findings that are handed over together the last match is left out.',
    foundBy: 'alert-counts',
    options: KEPT,
    pinnedSeed: '1',
    console: () =>
      changeFindings((findings) =>
        findings.map((one) => {
          const isMany = one.alert.kind === 'security_event' && one.matches.length > 1;
          return isMany ? { ...one, matches: one.matches.slice(0, -1) } : one;
        }),
      ),
  },
  {
    name: 'match-has-no-event',
    mistake: 'An alert counts a match that no event stands for.',
    foundBy: 'alert-counts',
    options: KEPT,
    pinnedSeed: '1',
    console: () =>
      changeFindings((findings) =>
        findings.map((one) => {
          const [first] = one.matches;
          if (first?.isEvent !== true) return one;
          return { ...one, matches: [...one.matches, { ...first, matchId: `${first.matchId}0` }] };
        }),
      ),
  },
  {
    name: 'arrivals-are-not-read',
    mistake: 'Rules see what arrives while they run, and nothing of what is stored.',
    foundBy: 'alert-counts',
    options: KEPT,
    pinnedSeed: '1',
    console: () => changeEvents(() => ({ arrivals: async () => ({ events: [], toMs: null }) })),
  },
  {
    name: 'windows-are-halved',
    mistake: 'Of what completes a window one event is handed over.',
    foundBy: 'rule-windows',
    options: KEPT,
    pinnedSeed: '1',
    console: () =>
      changeFindings((findings) =>
        findings.map((one) =>
          one.alert.ruleId === 'count' || one.alert.ruleId === 'sequence'
            ? { ...one, matches: one.matches.slice(0, 1) }
            : one,
        ),
      ),
  },
  {
    name: 'settled-alert-opens',
    mistake: 'A person who resolves an alert is told so, and the alert stays as it was.',
    foundBy: 'alert-states',
    options: KEPT,
    pinnedSeed: '1',
    console: () =>
      changeInbox((alerts) => ({
        async act(input) {
          if (input.act.act !== 'resolve') return alerts.act(input);
          const found = await Promise.all(input.alertIds.map((id) => alerts.get(id)));
          return input.alertIds.map((alertId, at) => ({
            ...{ alertId, result: found[at]?.row ?? ('not_found' as const) },
          }));
        },
      })),
  },
  {
    name: 'act-under-another-name',
    mistake: 'Whoever acts on an alert stands there as somebody else.',
    foundBy: 'alert-states',
    options: KEPT,
    pinnedSeed: '1',
    console: () =>
      changeInbox((alerts) => ({
        act: (input) => alerts.act({ ...input, actor: 'user:nobody@people.world' }),
      })),
  },
  {
    name: 'search-sees-half',
    mistake: 'A saved search is told of no event that it looks for.',
    foundBy: 'search-edges',
    options: KEPT,
    pinnedSeed: '1',
    console: () => changeEvents(() => ({ received: async () => [] })),
  },
  {
    name: 'crossing-is-forgotten',
    mistake: 'A saved search forgets that it told of the crossing it stands above.',
    foundBy: 'search-edges',
    options: { ...KEPT, hours: 0.1 },
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        savedSearches: {
          ...ports.savedSearches,
          list: async (page) => (await ports.savedSearches.list(page)).map(withoutCrossing),
        },
      }),
    }),
  },
  {
    name: 'windows-are-longer',
    mistake:
      'A rule that runs has windows that are four times as long as those of the rule that is stored.',
    foundBy: 'rule-backtest',
    // Long enough for windows to end.
    options: { ...KEPT, hours: 0.25, quietMs: 3_000 },
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        alertRules: {
          ...ports.alertRules,
          list: async () => (await ports.alertRules.list()).map(withLongerWindow),
        },
      }),
    }),
  },
];

function withoutCrossing<T extends { readonly body: SavedSearch }>(search: T): T {
  const { standing } = search.body;
  if (standing.state !== 'above') return search;
  return { ...search, body: { ...search.body, standing: { ...standing, state: 'below' } } };
}

function withLongerWindow(row: RuleRow): RuleRow {
  const { detect } = row.spec;
  if (detect.kind === 'match') return row;
  return {
    ...row,
    spec: { ...row.spec, detect: { ...detect, window_secs: 4 * detect.window_secs } },
  };
}
