import { describeEngineLoss } from './engine-suite.ts';

describeEngineLoss('is killed', 'SIGKILL');
describeEngineLoss('says nothing any more', 'SIGSTOP');
