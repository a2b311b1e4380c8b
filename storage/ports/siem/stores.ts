// What is kept of forwarding: where to, and how far events are settled.
import type { SiemStore } from './siem-store.ts';
import type { SinkFloors } from './sink-floors.ts';

export type SiemStores = {
  readonly siem: SiemStore;
  readonly sinkFloors: SinkFloors;
};
