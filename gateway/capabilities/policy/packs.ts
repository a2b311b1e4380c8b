// Packs and keys: opened with the database, because who enrolls is given the keys. The first key is the Console's own.
// decision: D80, D81, D82
import {
  type AssignmentActs,
  createAssignmentActs,
} from '../../../actors/policy/assignment-acts.ts';
import { createKeyActs, type KeyActs } from '../../../actors/policy/key-acts.ts';
import { createPackActs, type PackActs } from '../../../actors/policy/pack-acts.ts';
import { type BookService, openBook } from '../../../actors/policy/policy-book.ts';
import { policyKeyOf } from '../../../actors/runtime/policy-keys.ts';
import type { Capability } from '../../capability.ts';
import { settings } from '../settings/settings.ts';

export type Packs = {
  readonly book: BookService;
  readonly packs: PackActs;
  readonly assignments: AssignmentActs;
  readonly keys: KeyActs;
  /** Null while this Console signs nothing. */
  readonly ownKeyId: () => string | null;
};

export const packs: Capability<Packs> = {
  name: 'packs',
  opensAt: 'license_trust_anchor',
  async open(context) {
    const { relational, logger, time, policySigning } = context;
    const { get } = context.use(settings);
    const book = await openBook({ store: relational.policies, logger });
    const own = policyKeyOf(policySigning.publicKeyPem);
    const { policySigning: byFile } = context.config;
    const signer = () =>
      own === null || (byFile ?? get().policySigning) === 'offline'
        ? null
        : { keyId: own.id, sign: (message: Uint8Array) => policySigning.sign(message) };
    const sign = () => signer()?.sign ?? null;
    const keys = createKeyActs({ book, signer, logger });
    await keys.begin({ publicKeyPem: policySigning.publicKeyPem, nowMs: time.now() });
    return {
      service: {
        ...{ book, keys },
        packs: createPackActs({ book, signer: sign }),
        assignments: createAssignmentActs({ book, signer: sign }),
        ownKeyId: () => signer()?.keyId ?? null,
      },
    };
  },
};
