// What is written into the audit log about saved searches, investigations, exercises and what is usual.
import type { AuditActions } from '../../audit-action.ts';

export const HUNTING_AUDIT_ACTIONS = {
  'saved_search.create': 'A search was saved.',
  'saved_search.change': 'A saved search was changed, paused or resumed.',
  'saved_search.remove': 'A saved search was removed.',
  'investigation.create': 'An investigation was begun.',
  'investigation.change':
    'An investigation was changed, taken, handed over, closed or opened again.',
  'investigation.add': 'Something was collected in an investigation.',
  'investigation.take_out': 'Something was taken out of an investigation.',
  'investigation.export': 'An investigation left the Console as an archive.',
  'exercise.create': 'An exercise was planned.',
  'exercise.change': 'An exercise was started, ended or given up.',
  'exercise.remove': 'An exercise was removed with its result.',
  'usual.mark': 'A program or a sensor was declared to be usual.',
  'usual.remove': 'What was declared to be usual counts as before.',
} as const satisfies AuditActions;
