import { describeEngineLoss } from './engine-suite.ts';

describeEngineLoss('says nothing any more', 'SIGSTOP');
