// The short run: one call in forty. The long one, among the services, visits each.
import { describeCrashes } from './crash-suite.ts';

describeCrashes(40);
