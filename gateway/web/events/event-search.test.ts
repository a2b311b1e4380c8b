import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSearch, stringifySearch } from '../shell/search-params.ts';
import { eventSearchOf, filtersOf } from './event-search.ts';

describe('the address of a search for events', () => {
  it('should keep what the API knows and leave out the rest', () => {
    const read = eventSearchOf({
      ...{ from: 'now-1h', severity: ['high', 'enormous'], event_kind: 'process_exec' },
      ...{ binary: '/bin/sh', sensor_id: 'nobody', to: 'yesterday', more: 'x' },
    });
    expect(read).toEqual({
      ...{ from: 'now-1h', severity: ['high'], event_kind: ['process_exec'] },
      binary: '/bin/sh',
    });
    expect(filtersOf(read)).not.toHaveProperty('from');
  });

  it('should always mean the same after it was written and read again', () => {
    const anything = fc.dictionary(
      fc.constantFrom('from', 'severity', 'event_kind', 'binary', 'text', 'sensor_id'),
      fc.oneof(
        fc.string(),
        fc.constantFrom('now-1h', 'high', 'process_exec'),
        fc.array(fc.string()),
      ),
    );
    fc.assert(
      fc.property(anything, (search) => {
        const once = eventSearchOf(search);
        expect(eventSearchOf(parseSearch(stringifySearch(once)))).toEqual(once);
      }),
    );
  });
});
