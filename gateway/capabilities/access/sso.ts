// Logins through identity providers joined to people: the same accounts, the same sessions, the same audit log.
// decision: D40
import type { People } from '../../../actors/access/people.ts';
import type { ProviderClient } from '../../../actors/access/sso/provider-client.ts';
import {
  createProviderService,
  type ProviderService,
} from '../../../actors/access/sso/provider-service.ts';
import { createSsoService, type SsoService } from '../../../actors/access/sso/sso-service.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import type { SsoStore } from '../../../storage/ports/access/sso-store.ts';
import type { UserStore } from '../../../storage/ports/access/users.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Sealer } from '../../../storage/ports/plumbing/sealer.ts';
import type { ConsoleConfig } from '../../config/config.ts';

const CALLBACK_PATH = '/api/v2/auth/sso/callback';

export type Sso = {
  readonly service: SsoService;
  readonly providers: ProviderService;
  /** Where a provider sends browsers back to. */
  readonly callbackUrl: (providerId: string) => string;
};

/** Builds the desks; no provider is asked before somebody logs in. */
export function openSso(
  input: {
    readonly config: Pick<ConsoleConfig, 'baseUrl'>;
    readonly stores: {
      readonly sso: SsoStore;
      readonly users: UserStore;
      readonly audit: Pick<AuditLog, 'append'>;
    };
    readonly sealer: Sealer;
    readonly clock: WheelClock;
    readonly time: Pick<Time, 'now'>;
    readonly chance: Chance;
    readonly logger: Logger;
    readonly openProviders: (allowList: () => readonly string[]) => ProviderClient;
    /** Private names, addresses and networks that admins allow. */
    readonly allowList: () => readonly string[];
  },
  { sessions, needOf }: Pick<People, 'sessions' | 'needOf'>,
): Sso {
  const { config, sealer, clock, logger, time, chance, allowList } = input;
  const client = input.openProviders(allowList);
  const { sso, users, audit } = input.stores;
  const callbackUrl = (providerId: string) => `${config.baseUrl}${CALLBACK_PATH}/${providerId}`;
  return {
    service: createSsoService({
      ...{ sso, users, sessions, needOf, audit, client, sealer, clock, logger },
      ...{ now: time.now, callbackUrl, chance },
    }),
    providers: createProviderService({ sso, sealer, client, allowList, chance }),
    callbackUrl,
  };
}
