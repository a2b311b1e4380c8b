// Logins through identity providers joined to people: the same accounts, the same sessions, the same audit log.
// decision: D40
import type { Agent } from 'node:https';
import type { People } from '../../actors/access/people.ts';
import { createProviderClient } from '../../actors/access/sso/provider-client.ts';
import { createProviderDesk, type ProviderDesk } from '../../actors/access/sso/provider-desk.ts';
import { createSsoDesk, type SsoDesk } from '../../actors/access/sso/sso-desk.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { SsoStore } from '../../storage/ports/access/sso-store.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { AuditLog } from '../../storage/ports/relational.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { Time } from './time.ts';

const CALLBACK_PATH = '/api/v2/auth/sso/callback';

export type Sso = {
  readonly desk: SsoDesk;
  readonly providers: ProviderDesk;
  /** Where providers send browsers back to. */
  readonly callbackUrl: () => string;
};

/** How providers are reached, where it is not the usual way. */
export type ProviderWay = { readonly agent?: Agent; readonly timeoutMs?: number };

/** Builds the desks; no provider is asked before somebody logs in. */
export function assembleSso(
  input: {
    readonly config: Pick<ConsoleConfig, 'baseUrl' | 'ssoAllowsLoopback'>;
    readonly stores: {
      readonly sso: SsoStore;
      readonly users: UserStore;
      readonly audit: Pick<AuditLog, 'append'>;
    };
    readonly sealer: Sealer;
    readonly clock: WheelClock;
    readonly time: Pick<Time, 'now' | 'monotonicNow'>;
    readonly logger: Logger;
    readonly providerWay?: ProviderWay;
  },
  { sessions }: Pick<People, 'sessions'>,
): Sso {
  const { config, sealer, clock, logger, time } = input;
  const { sso, users, audit } = input.stores;
  const { ssoAllowsLoopback: allowsLoopback } = config;
  const { monotonicNow } = time;
  const client = createProviderClient({ monotonicNow, allowsLoopback, ...input.providerWay });
  const callbackUrl = () => `${config.baseUrl}${CALLBACK_PATH}`;
  return {
    desk: createSsoDesk({
      ...{ sso, users, sessions, audit, client, sealer, clock, logger },
      ...{ now: time.now, callbackUrl },
    }),
    providers: createProviderDesk({ sso, sealer, client, allowsLoopback }),
    callbackUrl,
  };
}
