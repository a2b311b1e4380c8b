// The short run: one call in four. The long one visits each.
import { describeCrashes } from './crash-suite.ts';

describeCrashes(4);
