// What is kept of what people should know.
import type { AlertStore } from './alert-store.ts';
import type { RuleStore } from './rule-store.ts';

export type DetectionStores = {
  readonly alerts: AlertStore;
  readonly alertRules: RuleStore;
};
