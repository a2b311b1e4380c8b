// The yardstick: the same listener with mutual TLS that only reads the body, parses the JSON and answers. Started by the
// bench as its own process; prints its port.
import { loadUws } from '../../gateway/listener/uws-loader.ts';

const [certFile = '', keyFile = '', caFile = '', cacheDir = ''] = process.argv.slice(2);
const loaded = loadUws({ cacheDir });
if (!loaded.ok) throw new Error(loaded.reason);
const { uws } = loaded;
const answer = JSON.stringify({
  acknowledged_sequence: 1,
  server_time: new Date().toISOString(),
  trust_health: 'healthy',
  certificate: { renewal_state: 'trusted', renew_now: false, expires_at: new Date().toISOString() },
  is_contained: false,
  settings: { heartbeat_interval_seconds: 15 },
});
let parsed = 0;

uws
  .SSLApp({ cert_file_name: certFile, key_file_name: keyFile, ca_file_name: caFile })
  .post('/sensors/heartbeat', (res) => {
    const chunks: Buffer[] = [];
    res.onAborted(() => {});
    res.onData((chunk, isLast) => {
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (!isLast) return;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { events: unknown[] };
      parsed += body.events.length;
      res.cork(() => res.writeHeader('content-type', 'application/json').end(answer));
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('the bare listener cannot bind');
    process.stdout.write(`port ${uws.us_socket_local_port(socket)}\n`);
  });
process.on('SIGTERM', () => {
  process.stderr.write(`bare: ${parsed} events parsed\n`);
  process.exit(0);
});
