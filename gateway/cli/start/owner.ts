// What whoever starts a Console may ask of it without a credential: the first admin, the first key, the first token.
// decision: D17; invariant: I11
import { type AdminKeys, createAdminKeys } from '../../../actors/access/admin-keys.ts';
import { type FirstAdmin, provideFirstAdmin } from '../../../actors/access/first-admin.ts';
import { trust } from '../../capabilities/trust/trust.ts';
import type { Console } from '../../console.ts';

export type Owner = AdminKeys & {
  /** An admin with a password that is told once, where there is none yet. */
  provideFirstAdmin(): Promise<FirstAdmin | null>;
  /** Makes a one-time enrollment token. */
  createToken(note: string): Promise<string>;
  isKnownSensor(sensorId: string): Promise<boolean>;
};

/** The owner of a running Console. */
export function ownerOf({ context }: Pick<Console, 'context'>): Owner {
  const { relational, hasher, chance, time } = context;
  const { users, apiKeys, sensors } = relational;
  return {
    ...createAdminKeys(apiKeys, { now: time.now, chance }),
    provideFirstAdmin: () => provideFirstAdmin({ users, hasher, now: time.now, chance }),
    createToken: async (note) =>
      (await context.use(trust).tokens.create({ note, actor: 'quick-start' })).secret,
    isKnownSensor: async (sensorId) => (await sensors.getSensor(sensorId)) !== null,
  };
}
