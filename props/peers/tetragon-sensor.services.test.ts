import { describeTetragonLoss } from './tetragon-sensor.ts';

describeTetragonLoss('stands still', 'SIGSTOP');
