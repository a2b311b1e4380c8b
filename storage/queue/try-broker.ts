// Tries the brokers of a queue: each takes a TCP connection. The Kafka protocol is not spoken, and the answer says so.
import { once } from 'node:events';
import { connect } from 'node:net';
import { SETUP_CONNECT_TIMEOUT_MS } from '../../machines/limits.ts';
import { type ConnectionResult, reasonWithout } from '../ports/plumbing/connection-tests.ts';
import { withoutSecrets } from '../ports/plumbing/store-address.ts';

const DEFAULT_PORT = 9_092;

/** Takes `host:port` of one broker or of several with commas between, with or without `kafka://`. */
export async function tryBroker(text: string): Promise<ConnectionResult> {
  const brokers = text.replace(/^kafkas?:\/\//, '').split(',');
  for (const broker of brokers) {
    const place = placeOf(broker.trim());
    const shown = withoutSecrets(broker.trim());
    if (place === null) return { ok: false, reason: `${shown} is not host:port` };
    const reason = await reach(place);
    if (reason !== null) return { ok: false, reason: `${shown}: ${reason}` };
  }
  const who = brokers.length === 1 ? 'The broker was' : 'All brokers were';
  return { ok: true, about: `${who} reached by TCP; the Kafka protocol was not tried` };
}

function placeOf(broker: string): { readonly host: string; readonly port: number } | null {
  const url = URL.canParse(`tcp://${broker}`) ? new URL(`tcp://${broker}`) : null;
  if (url === null || url.hostname === '' || url.username !== '' || url.pathname !== '')
    return null;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
  };
}

async function reach(place: { readonly host: string; readonly port: number }) {
  const socket = connect(place);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(SETUP_CONNECT_TIMEOUT_MS) });
    return null;
  } catch (error) {
    const isLate = (error as { readonly name?: unknown }).name === 'AbortError';
    return isLate ? 'no answer in time' : reasonWithout('', error);
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}
