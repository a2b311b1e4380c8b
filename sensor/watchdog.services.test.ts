import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('./watchdog.ts', import.meta.url).href;

/** A program that is watched and then does this; how it ended, and its words. */
async function endOf(what: string) {
  const program = `
    import { startWatchdog } from ${JSON.stringify(MODULE)};
    const stop = startWatchdog((error) => { throw error; }, { beatMs: 50, silenceMs: 1500 });
    ${what}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let words = '';
  child.stderr.on('data', (text) => {
    words += String(text);
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, words };
}

describe('watchdog', () => {
  it('should end a process whose event loop stands still', async () => {
    const end = await endOf('setTimeout(() => { for (;;); }, 200);');
    expect(end).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(end.words).toContain('nothing has moved for 1500 ms');
  });

  it('should leave one alone that moves, and keep none from ending', async () => {
    const moves = await endOf('setTimeout(() => undefined, 4000);');
    expect(moves).toEqual({ code: 0, signal: null, words: '' });
    const stopped = await endOf('stop(); const end = Date.now() + 2500; while (Date.now() < end);');
    expect(stopped).toEqual({ code: 0, signal: null, words: '' });
  });
});
