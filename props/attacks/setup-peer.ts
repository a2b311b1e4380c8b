// Whoever sets a Console up by HTTP: any client that can speak TLS.
import { request } from 'node:https';

export type SetupCall = {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
};
export type SetupAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Empty for what is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** One request on a connection of its own. */
export function callSetup({ port, method, path, token, body }: SetupCall): Promise<SetupAnswer> {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      // The certificate is the Console's own; who it is does not matter here.
      {
        ...{ host: '127.0.0.1', port, method, path, headers },
        agent: false,
        rejectUnauthorized: false,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const status = answer.statusCode ?? 0;
          resolve({ status, headers: answer.headers, text, body: parsed(text) });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
