// What Consoles of one database agree on.
import type { Designation } from './designation.ts';

export type RuntimeStores = {
  readonly designation: Designation;
};
