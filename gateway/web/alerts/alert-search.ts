// The address of the inbox: its filters, and the alert that is open beside the list.

import { ALERT_STATES } from '../../../machines/console/detection/alert-states.ts';
import { ALERT_SEVERITIES } from '../../../machines/wire/words.ts';
import { listIn, present, textIn } from '../shell/search-params.ts';

const TEXT_MAX_CHARS = 256;

/** Reads an address; what means nothing is left out. */
export function alertSearchOf(search: Record<string, unknown>) {
  return present({
    state: listIn(search['state'], ALERT_STATES),
    severity: listIn(search['severity'], ALERT_SEVERITIES),
    text: textIn(search['text'])?.slice(0, TEXT_MAX_CHARS),
    sensor_id: textIn(search['sensor_id'])?.slice(0, TEXT_MAX_CHARS),
    rule_id: textIn(search['rule_id'])?.slice(0, TEXT_MAX_CHARS),
    assignee: textIn(search['assignee'])?.slice(0, TEXT_MAX_CHARS),
  });
}
export type AlertSearch = ReturnType<typeof alertSearchOf>;
