// A Sensor whose event loop stands still: its watchdog ends the process, so that whoever supervises it starts it again.
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { WATCHDOG_BEAT_MS, WATCHDOG_SILENCE_MS } from '../../machines/limits.ts';
import { type Home, makeHome, removeHome, startProgram } from './programs.ts';

const AFTER_MS = 300_000;
let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

/** Has the program run this for ever, by way of the debugger every Node program opens when it is asked to. */
async function occupy(address: string, statement: string): Promise<void> {
  const debuggerOf = new WebSocket(address);
  await once(debuggerOf, 'open');
  const params = { expression: statement };
  debuggerOf.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
}

it('should end the Sensor when nothing has moved in it for a minute', {
  timeout: 2 * WATCHDOG_SILENCE_MS + AFTER_MS,
}, async () => {
  home = await makeHome();
  // Nobody listens there: it goes on trying.
  const address = ['--url', `https://localhost:${home.port}`, '--ca-fingerprint', '0'.repeat(64)];
  const words = ['run', ...address, '--token-file', '-'];
  const sensor = startProgram('sensor/cli/service-sensor.ts', words, {
    env: { ...home.env, NODE_OPTIONS: '--inspect-port=127.0.0.1:0' },
    stdin: 'nobody-asks-for-it\n',
  });
  await sensor.prints(/"msg"/);
  sensor.kill('SIGUSR1');
  const [debuggerAddress = ''] =
    /ws:\/\/127\.0\.0\.1:\S+/.exec(await sensor.prints(/ws:\/\/\S+\s/)) ?? [];
  await occupy(debuggerAddress, 'for (;;);');
  const stoodAt = performance.now();
  await sensor.exited;
  const stoodMs = performance.now() - stoodAt;
  expect(sensor.child.signalCode).toBe('SIGKILL');
  expect(sensor.output()).toContain(`nothing has moved for ${WATCHDOG_SILENCE_MS} ms`);
  expect(stoodMs).toBeGreaterThan(WATCHDOG_SILENCE_MS - 2 * WATCHDOG_BEAT_MS);
});
