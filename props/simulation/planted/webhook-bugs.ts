// Mistakes on the way of an alert to a receiver of webhooks.
import type { DeliveryStore } from '../../../storage/ports/delivery/delivery-store.ts';
import type { WebhookRow } from '../../../storage/ports/delivery/webhook-store.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { RECEIVED } from './settings.ts';

const KILLED = { ...RECEIVED, kinds: ['console.kill' as const], faultsPerHour: 200 };

function changeDeliveries(
  change: (own: DeliveryStore) => Partial<DeliveryStore>,
): ConsoleTampering {
  return {
    relational: (ports) => ({
      ...ports,
      deliveries: { ...ports.deliveries, ...change(ports.deliveries) },
    }),
  };
}

function changeWebhooks(
  change: (rows: readonly WebhookRow[]) => readonly WebhookRow[],
): ConsoleTampering {
  return {
    relational: (ports) => ({
      ...ports,
      webhooks: {
        ...ports.webhooks,
        list: async () => change(await ports.webhooks.list()),
      },
    }),
  };
}

export const WEBHOOK_BUGS: readonly PlantedBug[] = [
  {
    name: 'sent-is-delivered',
    mistake: 'What was sent is called delivered, whatever the receiver answered.',
    foundBy: 'alerts-arrive',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () =>
      changeDeliveries((own) => ({
        settle: (input) =>
          own.settle({
            ...input,
            attempts: input.attempts.map((one) => ({
              ...one,
              standing: { ...one.standing, state: 'delivered', endedAtMs: input.nowMs },
            })),
          }),
      })),
  },
  {
    name: 'alerts-are-not-posted',
    mistake: 'Of alerts that are posted together the first is left out, and all are called told.',
    foundBy: 'alerts-arrive',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () =>
      changeDeliveries((own) => ({
        post: (input) => own.post({ ...input, deliveries: input.deliveries.slice(1) }),
      })),
  },
  {
    name: 'carried-without-number',
    mistake: 'A delivery that carries others does not say how many.',
    foundBy: 'alerts-arrive',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () =>
      changeDeliveries((own) => ({
        claim: async (input) => (await own.claim(input)).map((one) => ({ ...one, folded: 0 })),
      })),
  },
  {
    name: 'dead-without-a-word',
    mistake: 'What is dead is told to nobody.',
    foundBy: 'alerts-arrive',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        alerts: {
          ...ports.alerts,
          async raise(input) {
            const findings = input.findings.filter(
              ({ alert }) => alert.kind !== 'destination_failing',
            );
            return findings.length === 0 ? [] : ports.alerts.raise({ ...input, findings });
          },
        },
      }),
    }),
  },
  {
    name: 'routes-are-ignored',
    mistake: 'Every webhook is sent every alert.',
    foundBy: 'alerts-arrive',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () =>
      changeWebhooks((rows) =>
        rows.map((row) => ({
          ...row,
          options: { ...row.options, kinds: [], groupIds: [], minSeverity: 'info' },
        })),
      ),
  },
  {
    name: 'crash-keeps-sending',
    mistake: 'What a Console was sending when it was killed is never tried again.',
    foundBy: 'liveness',
    options: KILLED,
    pinnedSeed: '1',
    console: () => changeDeliveries(() => ({ reclaim: async () => 0 })),
  },
  {
    name: 'last-webhook-waits',
    mistake: 'Of all webhooks that could be sent to the last one is left out.',
    foundBy: 'liveness',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () =>
      changeDeliveries((own) => ({
        claim: (input) => own.claim({ ...input, quotas: new Map([...input.quotas].slice(0, -1)) }),
      })),
  },
  {
    name: 'results-are-lost',
    mistake: 'Of attempts that are written together the last is left out.',
    foundBy: 'taken-once',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () =>
      changeDeliveries((own) => ({
        settle: (input) => own.settle({ ...input, attempts: input.attempts.slice(0, -1) }),
      })),
  },
  {
    name: 'judged-once',
    mistake: 'Where a name leads is judged at the first connection alone.',
    foundBy: 'outbound-guard',
    options: RECEIVED,
    pinnedSeed: '3',
    console() {
      const judged = new Set<string>();
      return {
        outbound: (way) => ({
          ...way,
          async resolve(host, policy) {
            if (judged.has(host)) return way.lookup(host);
            const address = await way.resolve(host, policy);
            judged.add(host);
            return address;
          },
        }),
      };
    },
  },
  {
    name: 'redirect-is-followed',
    mistake: 'A redirect is followed, and nobody judges where it leads.',
    foundBy: 'outbound-guard',
    options: RECEIVED,
    pinnedSeed: '1',
    console: () => ({
      outbound: (way) => ({
        ...way,
        async exchange(to, request) {
          const answer = await way.exchange(to, request);
          if (answer.location === null) return answer;
          const host = new URL(answer.location).hostname;
          return way.exchange({ host, address: host.replace(/^\[|\]$/g, '') }, request);
        },
      }),
    }),
  },
  {
    name: 'secret-of-the-neighbour',
    mistake: 'Each webhook is signed with the secret of the next one.',
    foundBy: 'own-secret',
    options: RECEIVED,
    pinnedSeed: '1',
    // The seal of a row holds its own name, as nothing here is hidden; so the text alone is exchanged.
    console: () =>
      changeWebhooks((rows) =>
        rows.map((row, at) => {
          const next = rows[(at + 1) % rows.length] ?? row;
          const text = next.secretSealed?.split('|').at(1) ?? '';
          const context = row.secretSealed?.split('|').at(0) ?? '';
          return { ...row, secretSealed: `${context}|${text}` };
        }),
      ),
  },
];
