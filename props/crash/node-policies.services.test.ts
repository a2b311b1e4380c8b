import { describeDyingNodes } from './node-policies-suite.ts';

describeDyingNodes(Number(process.env['CRASH_CALLS'] ?? 1));
