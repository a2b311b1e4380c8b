// A receiver hears its own secret alone, where its type wants one, and can verify by it what is signed. Whoever is where its
// name leads hears it, too: whether it may lead there is the promise of outbound-guard. invariant: I11; decision: D104
import { createHmac } from 'node:crypto';
import type { CheckerKind } from './checker.ts';
import { receiverWordsOf } from './receiver-words.ts';

export const ownSecret: CheckerKind = {
  name: 'own-secret',
  promise: 'No receiver hears the secret of another one, and what is signed is signed by its own.',
  make(fleet, report) {
    const { webhooks } = receiverWordsOf(fleet);
    return {
      observe(observation) {
        if (observation.kind !== 'webhook.received') return;
        const { receiver, host, signature, headers, body } = observation.seen;
        const text = `${headers} ${body}`;
        for (const { secret, ...of } of webhooks.values()) {
          const isOwn = receiver === null ? of.host === host : of.receiver === receiver;
          if ((!isOwn || of.type === 'generic') && text.includes(secret)) {
            report(`${host} was told the secret of ${of.receiver}`);
          }
          if (!isOwn || of.type !== 'generic') continue;
          const mac = createHmac('sha256', secret).update(body).digest('hex');
          if (signature !== `sha256=${mac}`) report(`what ${host} got is not signed for it`);
        }
      },
    };
  },
};
