// Webhooks: where alerts are sent. Every method rejects with StoreUnavailable; changes are audited with them. Secrets are
// sealed before they come here. invariant: I11, I18; decision: D104
import type { WebhookType } from '../../../machines/console/delivery/formats/formats.ts';
import type { QuietHours } from '../../../machines/console/delivery/quiet-hours.rules.ts';
import type { Route } from '../../../machines/console/delivery/routing.rules.ts';
import type { DestinationStanding } from '../../../machines/console/delivery/standing.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type WebhookOptions = Route & {
  /** PEM of the CA that the receiver's certificate chains to; null: the public ones. */
  readonly caPem: string | null;
  readonly ratePerMinute: number;
  /** A proxy between the Console and the receiver; null: none. */
  readonly proxyUrl: string | null;
  readonly quietHours: QuietHours | null;
};

const NEWER_OPTIONS = { proxyUrl: null, quietHours: null } as const;

/** Options as they are read: those that an older Console stored lack what came later. */
export function wholeOptions(
  stored: Omit<WebhookOptions, keyof typeof NEWER_OPTIONS> & Partial<WebhookOptions>,
): WebhookOptions {
  return { ...NEWER_OPTIONS, ...stored };
}

export type WebhookRow = {
  readonly webhookId: string;
  readonly type: WebhookType;
  readonly name: string;
  readonly targetUrl: string;
  /** Null: none was set. */
  readonly secretSealed: string | null;
  /** The one that takes over at `rotatesAtMs`; null: no rotation is under way. */
  readonly nextSecretSealed: string | null;
  readonly rotatesAtMs: number | null;
  readonly options: WebhookOptions;
  readonly pausedAtMs: number | null;
  readonly destination: DestinationStanding;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly revision: number;
};

export type WebhookPatch = Partial<
  Pick<
    WebhookRow,
    | 'name'
    | 'targetUrl'
    | 'secretSealed'
    | 'nextSecretSealed'
    | 'rotatesAtMs'
    | 'options'
    | 'pausedAtMs'
    | 'destination'
  >
>;

export type WebhookStore = {
  /** By id. */
  list(): Promise<readonly WebhookRow[]>;
  get(webhookId: string): Promise<WebhookRow | null>;
  /** Full: there are WEBHOOKS_MAX already. */
  create(
    input: AuditContext & {
      readonly webhook: Omit<
        WebhookRow,
        'createdAtMs' | 'changedAtMs' | 'revision' | 'destination' | 'pausedAtMs'
      >;
    },
  ): Promise<WebhookRow | 'full'>;
  /** Only of the revision that was read; `action` names it in the audit log. */
  change(
    input: AuditContext & {
      readonly webhookId: string;
      readonly revision: number;
      readonly patch: WebhookPatch;
      readonly action?: 'webhook.change' | 'webhook.rotate_secret';
    },
  ): Promise<WebhookRow | 'not_found' | 'conflict'>;
  /** Its deliveries go with it. */
  remove(input: AuditContext & { readonly webhookId: string }): Promise<boolean>;
  /** Puts the same secrets in place under another key; false when they are not what was read any more. */
  reseal(input: {
    readonly webhookId: string;
    readonly was: Pick<WebhookRow, 'secretSealed' | 'nextSecretSealed'>;
    readonly sealed: Pick<WebhookRow, 'secretSealed' | 'nextSecretSealed'>;
  }): Promise<boolean>;
};
