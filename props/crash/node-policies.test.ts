import { describeDyingNodes } from './node-policies-suite.ts';

describeDyingNodes(25);
