// The pinned runs with a keeper of alert rules and saved searches. decision: D165
import { describe } from 'vitest';
import { itKeepsRulesOver } from './keeper-suite.ts';
import { shareOf } from './share.ts';

describe('the keeper of the simulated fleet', () => {
  itKeepsRulesOver(shareOf(['2', '3']));
});
