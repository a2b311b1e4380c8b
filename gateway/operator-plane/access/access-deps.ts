// What operator access gives the operator plane, under one field. Each resource names the service or port it uses.

import type { ApiKeyService } from '../../../actors/access/api-key-service.ts';
import type { People } from '../../../actors/access/people.ts';
import type { SecondFactorService } from '../../../actors/access/second-factor-service.ts';
import type { SecurityKeyService } from '../../../actors/access/security-keys.ts';
import type { ProviderService } from '../../../actors/access/sso/provider-service.ts';
import type { SsoService } from '../../../actors/access/sso/sso-service.ts';

export type AccessDeps = {
  readonly apiKeys: ApiKeyService;
  readonly people: People;
  readonly secondFactor: SecondFactorService;
  readonly securityKeys: SecurityKeyService;
  readonly sso: {
    readonly service: SsoService;
    readonly providers: ProviderService;
    readonly callbackUrl: (providerId: string) => string;
  };
};
