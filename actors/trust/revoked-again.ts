// Revocations that the database forgot and that it is told of again, each until it has taken it. decision: D171
import type { Logger } from '../runtime/logger.ts';

/** Makes what is called with the sensor; `later` runs something after a while. */
export function createRetelling(
  {
    revokeAgain,
    logger,
  }: {
    readonly revokeAgain: (sensorId: string) => Promise<unknown>;
    readonly logger: Logger;
  },
  later: (run: () => Promise<void>) => void,
): (sensorId: string) => void {
  const retold = new Set<string>();

  async function tell(sensorId: string): Promise<void> {
    try {
      await revokeAgain(sensorId);
      retold.delete(sensorId);
    } catch (error) {
      logger.warn({ sensorId, error: String(error) }, 'a sensor could not be revoked again');
      later(() => tell(sensorId));
    }
  }

  return (sensorId) => {
    if (retold.has(sensorId)) return;
    retold.add(sensorId);
    logger.warn({ sensorId }, 'the database forgot a revocation: the sensor is revoked again');
    void tell(sensorId);
  };
}
