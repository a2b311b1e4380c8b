import { describeEngineLoss } from './engine-suite.ts';

describeEngineLoss('is killed', 'SIGKILL');
