// The pinned run with somebody who publishes policies; the bugs of this part are found among the planted ones. decision: D170
import { describe } from 'vitest';
import { itPublishesOver } from './publisher-suite.ts';

describe('the publisher of the simulated fleet', () => {
  itPublishesOver(['2']);
});
