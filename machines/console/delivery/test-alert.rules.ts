// The alert of a test delivery: fixed values that no sensor has.
import type { Alert } from './alert.ts';

export const TEST_SENSOR_ID = '00000000-0000-0000-0000-000000000000';

/** Made anew for each test; it occurred when it is sent. */
export function testAlertOf(alertId: string, nowMs: number): Alert {
  return {
    ...{ alertId, kind: 'test_delivery', severity: 'info', ruleId: 'test_delivery' },
    ...{ sensorId: TEST_SENSOR_ID, nodeName: 'test-node', source: 'v2_api_test' },
    headline: 'Test delivery',
    detail: 'This destination is set up to be told of alerts. Nothing happened on any node.',
    ...{ occurredAtMs: nowMs, observedAtMs: null, dedupKey: `test_delivery ${alertId}` },
    ...{ texts: {}, tags: [], groupIds: [], relatedEventCount: null, search: null },
  };
}
