// What operator access gives the operator plane, under one field. Each resource names the desk or port it uses.

import type { ApiKeyDesk } from '../../../actors/access/api-key-desk.ts';
import type { People } from '../../../actors/access/people.ts';
import type { SecondFactorDesk } from '../../../actors/access/second-factor-desk.ts';
import type { ProviderDesk } from '../../../actors/access/sso/provider-desk.ts';
import type { SsoDesk } from '../../../actors/access/sso/sso-desk.ts';

export type AccessDeps = {
  readonly apiKeys: ApiKeyDesk;
  readonly people: People;
  readonly secondFactor: SecondFactorDesk;
  readonly sso: {
    readonly desk: SsoDesk;
    readonly providers: ProviderDesk;
    readonly callbackUrl: () => string;
  };
};
