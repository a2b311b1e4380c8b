// A node that runs programs which a rule calls odd: each is told in a heartbeat of its own, the same one again until it is
// acknowledged. What was acknowledged happened; whatever was told of it later is judged by that.
import { generateKeyPem } from '../../sensor/transport/signing-request.ts';
import { createToken } from './fleet.ts';
import { enrollBody, heartbeatBody, keepAliveAgent, madeEvent, post } from './peer.ts';
import { eventually, type Home } from './programs.ts';

const STREAM_ID = 'd'.repeat(32);
const PROGRAMS = '/opt/odd';
/** Matches each of them; every program is an alert of its own. */
export const ODD_PROGRAMS_RULE = {
  ...{ rule_name: 'odd program', severity: 'high', group_by: ['process.binary'] },
  detect: { kind: 'match', condition: `event_kind:process_exec and binary:${PROGRAMS}/*` },
} as const;

export type OddNode = {
  readonly sensorId: string;
  /** Runs a program of this name; resolves with its path once the Console has acknowledged that it ran. */
  run(name: string): Promise<string>;
  close(): void;
};

/** Enrols one. */
export async function enrolOddNode(home: Home, nodeName: string): Promise<OddNode> {
  const key = await generateKeyPem();
  const body = await enrollBody(await createToken(home), nodeName, key);
  const enrolled = await post(home, { path: '/sensors/enroll', body });
  if (enrolled.status !== 201) throw new Error(`enrollment: ${enrolled.status}`);
  const pair = { key, cert: String(enrolled.body['control_plane_certificate_pem']) };
  const expiresAt = String(enrolled.body['certificate_expires_at']);
  const agent = keepAliveAgent();
  let sequence = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other, as a node numbers its batches. */
  function run(name: string): Promise<string> {
    const told = last.then(() => tell(name));
    last = told.catch(() => undefined);
    return told;
  }

  async function tell(name: string): Promise<string> {
    sequence += 1;
    const binary = `${PROGRAMS}/${name}`;
    const ran = {
      ...madeEvent(sequence),
      process: { exec_id: `odd-${sequence}`, pid: 4_000 + sequence, uid: 0, binary },
    };
    const beat = heartbeatBody(STREAM_ID, sequence, [ran], expiresAt);
    await eventually(`${binary} is acknowledged`, async () => {
      const answer = await post(home, { path: '/sensors/heartbeat', body: beat, pair, agent });
      return answer.status === 200 && answer.body['acknowledged_sequence'] === sequence
        ? true
        : null;
    });
    return binary;
  }

  return {
    sensorId: String(enrolled.body['sensor_id']),
    run,
    close: () => agent.destroy(),
  };
}
