import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { routedWithDoors } from './let-go.ts';
import { loadUws } from './uws-loader.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const cacheDir = await mkdtemp(join(tmpdir(), 'let-go-'));
const loaded = loadUws({ cacheDir });
if (!loaded.ok) throw new Error(loaded.reason);
const { uws } = loaded;
afterAll(() => rmSync(cacheDir, { recursive: true, force: true }));

/** An app whose routes lead to something that nothing else knows. */
function routesTo() {
  const app = uws.App();
  const { routed, letGo } = routedWithDoors(app);
  const deep = { greeting: 'hello' };
  routed.any('/*', (res) => void res.end(deep.greeting));
  routed.ws('/socket', { open: (ws) => void ws.send(deep.greeting) });
  return { app, letGo, seen: new WeakRef(deep) };
}

describe('routes of the native library', () => {
  it('should let go of what they lead to when their listener ends, and not before', async () => {
    const { app, letGo, seen } = routesTo();
    app.close();
    await new Promise(setImmediate);
    collect();
    expect(seen.deref() !== undefined).toBe(true);
    letGo();
    await expect
      .poll(() => {
        collect();
        return seen.deref() === undefined;
      })
      .toBe(true);
  });
});
