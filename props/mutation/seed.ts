// Every mutant meets the same samples, and few of them: one seed, and no shrinking, since nobody reads the counterexample.
import fc from 'fast-check';
import { wantedFolder } from './own-tests.ts';

// The properties of effect code write real files.
const RUNS_PER_PROPERTY = (wantedFolder()?.isOfMachines ?? true) ? 40 : 10;

fc.configureGlobal({ seed: 20_261_121, numRuns: RUNS_PER_PROPERTY, endOnFailure: true });
