// The long run: a process for every file call.
import { describeCrashes } from './crash-suite.ts';

describeCrashes(1);
