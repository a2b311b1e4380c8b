// The short run: one call in sixteen. The long one visits each.
import { describeCrashes } from './crash-suite.ts';

describeCrashes(16);
