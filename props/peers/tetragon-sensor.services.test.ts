import { describeTetragonLoss } from './tetragon-sensor.ts';

describeTetragonLoss('is killed', 'SIGKILL');
describeTetragonLoss('stands still', 'SIGSTOP');
