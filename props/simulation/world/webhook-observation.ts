// What happened to webhooks and their alerts, in the words the checkers read.
import type { AlertKind, AlertSeverity } from '../../../machines/console/delivery/alert.ts';
import type { Route } from '../../../machines/console/delivery/routing.rules.ts';

/** A request as a receiver gets it. */
export type WebhookSeen = {
  readonly console: string;
  readonly host: string;
  /** Where the connection led. */
  readonly address: string;
  /** Null: no receiver of this world is there. */
  readonly receiver: string | null;
  readonly delivery: string;
  readonly signature: string | null;
  readonly headers: string;
  readonly body: string;
  /** Null: it never answered. */
  readonly status: number | null;
};

export type WebhookObservation =
  /** A webhook that is known to stand, with the route that it was given. */
  | {
      readonly kind: 'webhook.told';
      readonly webhook: string;
      readonly receiver: string;
      readonly host: string;
      readonly type: string;
      readonly secret: string;
      readonly route: Route;
    }
  /** A request that came to an address, and what was answered to it. */
  | { readonly kind: 'webhook.received'; readonly seen: WebhookSeen }
  /** An alert that was found, once it is known to be durable. */
  | {
      readonly kind: 'alert.raised';
      readonly alert: string;
      readonly key: string;
      readonly what: AlertKind;
      readonly severity: AlertSeverity;
      readonly groupIds: readonly string[];
    };
