// The shared counter of the tests keeps the promises of the real one.
import { createMemoryCounter } from '../../storage/memory/access/shared-counter.ts';
import { sharedCounterContract } from './shared-counter.contract.ts';

const { counter, setAway } = createMemoryCounter(() => performance.now());
sharedCounterContract({ port: () => counter, other: () => counter, setAway });
