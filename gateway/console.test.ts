// The start of a Console, seen from its ports: what is opened in which of the ten steps. invariant: I14
import { afterEach, describe, expect, it } from 'vitest';
import type { Logger } from '../actors/runtime/logger.ts';
import { silentLogger } from '../actors/runtime/silent-logger.ts';
import { createMemoryRelational } from '../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../storage/memory/telemetry/memory-events.ts';
import { CAPABILITIES } from './capabilities.ts';
import { type Console, runConsole } from './console.ts';
import { memoryPorts } from './memory-ports.fixture.ts';

const open: Console[] = [];
afterEach(async () => {
  for (const console of open.splice(0)) await console.stop();
});

/** What happened in which order: a line for each step that passed, and one for the counter of the rate limiter. */
async function started(): Promise<readonly string[]> {
  const happened: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    info(fields: Readonly<Record<string, unknown>> | string, text?: string) {
      if (typeof fields === 'object' && text === 'start-up step passed') {
        happened.push(String(fields['step']));
      }
    },
  };
  const stores = { relational: createMemoryRelational(), analytics: createMemoryEvents(1) };
  const ports = memoryPorts(stores, {
    logger,
    openCounter() {
      happened.push('the rate limiter');
      return null;
    },
  });
  const result = await runConsole(ports, CAPABILITIES);
  if (!result.ok) throw new Error(`${result.step}: ${result.reason}`);
  open.push(result.console);
  return happened;
}

describe('the start of a Console', () => {
  it('should build the rate limiter in the fifth step, with the analytics client and the event sink', async () => {
    const happened = await started();
    expect(happened.slice(3, 7)).toEqual([
      ...['license_trust_anchor', 'the rate limiter', 'analytics_and_sink', 'routers'],
    ]);
  });
});
