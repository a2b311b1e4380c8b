// The pinned run with receivers of webhooks; the bugs of this part are found among the planted ones. decision: D165
import { describe } from 'vitest';
import { itDeliversOver } from './deliveries-suite.ts';

describe('deliveries of the simulated fleet', () => {
  itDeliversOver(['2']);
});
