// Second factors joined to people: the same sessions, the same count of wrong passwords, the roles of the settings.
// decision: D39
import type { People } from '../../../actors/access/people.ts';
import { createSecondFactorService } from '../../../actors/access/second-factor.ts';
import type { SecondFactorService } from '../../../actors/access/second-factor-service.ts';
import {
  createSecurityKeyService,
  type SecurityKeyService,
} from '../../../actors/access/security-keys.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { SettingsService } from '../../../actors/settings/settings-service.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import { relyingPartyOf } from '../../../machines/console/access/security-key.rules.ts';
import type { PeopleStores } from '../../../storage/ports/access/stores.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Sealer } from '../../../storage/ports/plumbing/sealer.ts';
import type { ConsoleConfig } from '../../config/config.ts';

type Stores = Pick<
  PeopleStores,
  'users' | 'secondFactors' | 'recoveryCodes' | 'securityKeys' | 'loginFailures'
>;

/** Builds the services; nothing runs before it is asked. */
export function openSecondFactor(
  input: {
    readonly config: Pick<ConsoleConfig, 'baseUrl'>;
    readonly settings: Pick<SettingsService, 'get'>;
    readonly stores: Stores & {
      readonly audit: Pick<AuditLog, 'append' | 'search'>;
    };
    readonly sealer: Sealer;
    readonly time: Pick<Time, 'now'>;
    readonly logger: Logger;
    readonly chance: Pick<Chance, 'randomBytes' | 'newId'>;
  },
  { sessions, login, needOf }: Pick<People, 'sessions' | 'login' | 'needOf'>,
): { readonly secondFactor: SecondFactorService; readonly securityKeys: SecurityKeyService } {
  const { config, settings, sealer, time, logger, chance } = input;
  const { users, secondFactors, recoveryCodes, loginFailures, audit } = input.stores;
  const securityKeys = createSecurityKeyService({
    ...{ users, securityKeys: input.stores.securityKeys, now: time.now, chance },
    relyingParty: () => relyingPartyOf(config.baseUrl),
  });
  const secondFactor = createSecondFactorService({
    ...{ users, secondFactors, recoveryCodes, securityKeys, loginFailures, audit },
    ...{ sessions, login, needOf, sealer, logger, now: time.now, chance },
    requiredRoles: () => settings.get().mfaRequiredRoles,
    // What the app shows above the code: people know their Console by its name.
    issuer: () => new URL(config.baseUrl).hostname,
  });
  return { secondFactor, securityKeys };
}
