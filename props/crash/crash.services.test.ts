// The long run: a process for every file call, or for one in so many as CRASH_CALLS says.
import { describeCrashes } from './crash-suite.ts';

describeCrashes(Number(process.env['CRASH_CALLS'] ?? 1));
