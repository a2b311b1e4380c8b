// What operator access gives the operator plane, under one field. Each resource names the desk or port it uses.
import type { SettingsDesk } from '../../actors/settings/settings-desk.ts';
import type { GuardDeps } from './guard.ts';

export type AccessDeps = Pick<GuardDeps, 'owns' | 'judgeOrigin'> & {
  readonly settings: Pick<SettingsDesk, 'get' | 'view' | 'change'>;
};
