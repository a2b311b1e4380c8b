// The first look at a broker, against a port that takes connections and one that does not.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { tryBroker } from './try-broker.ts';

describe('trying a broker', () => {
  it('should say that it was reached, and what was not tried', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await tryBroker(`kafka://127.0.0.1:${port}`)).toEqual({
      ...{ ok: true, about: 'The broker was reached by TCP; the Kafka protocol was not tried' },
    });
    server.close();
  });

  it.each(['no port here', '127.0.0.1:1', 'user@host:1', 'host:1/path'])(
    'should say why not: %s',
    async (text) => {
      expect(await tryBroker(text)).toMatchObject({ ok: false, reason: expect.any(String) });
    },
  );
});
