// Somebody who shows a session or key where only a certificate counts: the sensor plane must not know it.
import { SESSION_COOKIE } from '../../../gateway/access/session-cookie.ts';
import { CONSOLE_HOST_NAME } from './console-name.ts';
import type { Listeners } from './dial.ts';
import type { Shown } from './operator-side.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

const PATHS = ['/sensors/heartbeat', '/sensors/events', '/sensors/renew'] as const;

/** Shows it to a Console that is up; whatever comes of it is observed. */
export function showToSensorPlane(
  { world, random, listeners }: { world: World; random: Random; listeners: Listeners },
  { kind, secret }: Shown,
): void {
  const up = listeners.find(CONSOLE_HOST_NAME);
  if (up.length === 0) return;
  const { edge, console } = random.pick(up);
  const path = random.pick(PATHS);
  const cookie = { cookie: `${SESSION_COOKIE}=${secret}` };
  edge.request(
    {
      path,
      headers: {
        'content-type': 'application/json',
        'content-length': '2',
        ...(kind === 'session' ? cookie : { authorization: `Bearer ${secret}` }),
      },
      body: '{}',
      certPem: '',
      address: '192.0.2.9',
    },
    ({ status, body }) => {
      const told = /"code":"([a-z_]+)"/.exec(body)?.[1] ?? `http_${status}`;
      const code = status < 400 ? null : told;
      world.observe({ kind: 'sensor_plane.tried', console, path, code });
    },
  );
}
