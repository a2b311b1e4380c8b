// `service-console doctor`: what stands between this terminal and a working Console, one line a check, with the cure.
import { lookup } from 'node:dns/promises';
import { statSync } from 'node:fs';
import { connect } from 'node:tls';
import { SKEW_TOLERATED_MS } from '../../../machines/limits.ts';
import { exchange } from './client.ts';
import type { CommandIo } from './command-run.ts';
import { type Connection, contextFilePath, resolveConnection } from './context-file.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { plain } from './terminal.ts';

const CHECK_TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;

type Finding = { readonly ok: boolean; readonly said: string; readonly fix?: string };

/** Runs every check; throws at the end when one failed. */
export async function runDoctor(io: CommandIo): Promise<void> {
  const { out, colors } = io.terminal;
  let failed = 0;
  const tell = (name: string, { ok, said, fix }: Finding) => {
    if (!ok) failed += 1;
    const mark = ok ? colors.green('✓') : colors.red('✗');
    out(`${mark} ${name.padEnd(12)} ${plain(said)}${ok || fix === undefined ? '' : ` — ${fix}`}`);
  };

  tell('context', contextFile(io));
  const connection = attempt(() => resolveConnection(io.env));
  if (connection instanceof CommandFailure) {
    tell('console', { ok: false, said: connection.message, fix: connection.next });
  } else {
    tell('dns', await dns(connection));
    const { finding, isUp } = await tls(connection);
    tell('tls', finding);
    if (isUp) for (const [name, found] of await answers(connection, io.now)) tell(name, found);
  }
  if (failed > 0) throw new CommandFailure(EXIT.failed, `${failed} checks failed`);
}

function contextFile(io: CommandIo): Finding {
  const path = contextFilePath(io.env);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    if (io.env['SERVICE_CONSOLE_URL'] !== undefined) return { ok: true, said: 'environment' };
    const fix = 'service-console quickstart writes it, or set SERVICE_CONSOLE_URL';
    return { ok: false, said: `${path} does not exist`, fix };
  }
  const isPrivate = (stat.mode & 0o077) === 0;
  const said = isPrivate ? path : `${path} can be read by others`;
  return { ok: isPrivate, said, fix: `chmod 600 ${path}` };
}

async function dns({ url }: Connection): Promise<Finding> {
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '');
  try {
    const { address } = await lookup(name);
    return { ok: true, said: `${name} is ${address}` };
  } catch {
    return { ok: false, said: `${name} has no address`, fix: 'check the name in the context' };
  }
}

function tls({ url, ca }: Connection): Promise<{ finding: Finding; isUp: boolean }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port === '' ? 443 : port),
      servername: hostname,
      timeout: CHECK_TIMEOUT_MS,
      ...(ca === null ? {} : { ca }),
    });
    const end = (finding: Finding, isUp: boolean) => {
      socket.destroy();
      resolve({ finding, isUp });
    };
    socket.on('secureConnect', () => {
      const leftMs = Date.parse(socket.getPeerCertificate().valid_to) - Date.now();
      const days = (leftMs / DAY_MS).toFixed(1);
      const said = `${socket.getProtocol()}, the server certificate is good for ${days} days`;
      end({ ok: true, said }, true);
    });
    socket.on('timeout', () => {
      end({ ok: false, said: `${url} does not answer`, fix: 'is a firewall between?' }, false);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isAbsent = error.code === 'ECONNREFUSED';
      const said = isAbsent ? `nothing listens at ${url}` : `${url}: ${error.message}`;
      const fix = isAbsent ? 'service-console quickstart' : 'compare the CA with /ca.pem';
      end({ ok: false, said, fix }, false);
    });
  });
}

async function answers(
  connection: Connection,
  now: () => number,
): Promise<readonly (readonly [string, Finding])[]> {
  const ask = (path: string) =>
    exchange(connection, { method: 'GET', path, timeoutMs: CHECK_TIMEOUT_MS });
  const found: [string, Finding][] = [];
  const version = await ask('/version');
  const facts: { version?: string } = version.status === 200 ? JSON.parse(version.text) : {};
  found.push(['version', { ok: version.status === 200, said: facts.version ?? 'unknown' }]);
  const skewMs = Math.abs(now() - (version.dateMs ?? now()));
  const isNear = skewMs < SKEW_TOLERATED_MS;
  const apart = `this clock and the Console's are ${Math.round(skewMs / 1_000)} s apart`;
  found.push(['clock', { ok: isNear, said: apart, fix: 'set the clocks by NTP' }]);
  const ready = await ask('/readyz');
  const told = await ask('/readyz?verbose');
  const { dependencies = [], because = null } = JSON.parse(told.text) as Readiness;
  found.push([
    'ready',
    { ok: ready.status === 200, said: because ?? (ready.status === 200 ? 'yes' : 'no') },
  ]);
  for (const { name, ok, ms } of dependencies) {
    found.push([name, { ok, said: ok ? `${ms} ms` : 'away', fix: 'see the Console log' }]);
  }
  const key = await ask('/api/v2/sensors?limit=1');
  const said = key.status === 200 ? 'accepted' : `refused (HTTP ${key.status})`;
  const license = await ask('/api/v2/license');
  if (license.status === 200) found.push(['license', licenseFinding(JSON.parse(license.text))]);
  found.push(['api key', { ok: key.status === 200, said, fix: 'set SERVICE_TOKEN' }]);
  return found;
}

function licenseFinding({ phase, license, banners }: LicenseAnswer): Finding {
  const until = license === null ? phase : `${phase}, until ${license.valid_until}`;
  const said = [until, ...banners.map(({ text }) => text)].join('. ');
  const isOver = banners.some(({ level }) => level === 'critical');
  return { ok: !isOver, said, fix: 'service-console license import FILE' };
}

type LicenseAnswer = {
  readonly phase: string;
  readonly license: { readonly valid_until: string } | null;
  readonly banners: readonly { readonly level: string; readonly text: string }[];
};
type Readiness = {
  readonly because?: string | null;
  readonly dependencies?: readonly { name: string; ok: boolean; ms: number }[];
};

function attempt<T>(run: () => T): T | CommandFailure {
  try {
    return run();
  } catch (error) {
    if (error instanceof CommandFailure) return error;
    throw error;
  }
}
