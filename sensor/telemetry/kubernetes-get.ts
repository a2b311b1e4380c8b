// One bounded request to the API server or a kubelet. Both are judged by the CA they are given and by their name, and the
// token leaves only over a connection that passed. Why one does not answer is said so that an operator knows what to mend.

import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import {
  KUBERNETES_ANSWER_MAX_BYTES,
  KUBERNETES_TIMEOUT_MS,
} from '../../machines/pipeline-limits.ts';
import { troubleOf } from '../transport/trouble.ts';

// An import of this module would read all its exports, and with one of them load Node's own fetch: 3 MB for good.
const { request: requestPlain } = process.getBuiltinModule('node:http');

export type KubernetesPeer = {
  readonly url: URL;
  readonly token: string;
  /** PEM; '' where only the public roots count. */
  readonly ca: string;
  /** Where the CA came from, for whoever has to mend it. */
  readonly caFile: string;
};

const REASON_MAX_CHARS = 300;
const STATUS_REASONS: Readonly<Record<number, string>> = {
  401: 'the token is not accepted (401)',
  403: 'the service account may not list this (403)',
};

/** The body of a 200. Rejects with a sentence that names who was asked and why it does not tell. */
export function getText(peer: KubernetesPeer, accept: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (reason: string): void => reject(new Error(sentenceOf(peer, reason)));
    const fail = (error: unknown): void => refuse(reasonOf(error, peer));
    const signal = AbortSignal.timeout(KUBERNETES_TIMEOUT_MS);
    const asked = ask(peer, { accept, signal }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > KUBERNETES_ANSWER_MAX_BYTES)
          answer.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      answer.on('error', fail);
      answer.on('end', () => {
        const { statusCode = 0 } = answer;
        if (statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else refuse(statusReason(statusCode));
      });
    });
    asked.on('error', fail);
  });
}

type Asking = { readonly accept: string; readonly signal?: AbortSignal; readonly agent?: false };

/** Sends the request of a GET to a peer, judged by its CA. */
export function ask(
  { url, token, ca }: KubernetesPeer,
  { accept, ...more }: Asking,
  heard: (answer: IncomingMessage) => void,
): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, accept };
  const options = { ...more, headers, ...(ca === '' ? {} : { ca }) };
  const asked =
    url.protocol === 'http:' ? requestPlain(url, options, heard) : request(url, options, heard);
  return asked.end();
}

/** With the name of who was asked, and bounded. */
export function sentenceOf({ url }: KubernetesPeer, reason: string): string {
  return `${url.host}: ${reason}`.slice(0, REASON_MAX_CHARS);
}

/** What a status that is no 200 means. */
export function statusReason(statusCode: number): string {
  return STATUS_REASONS[statusCode] ?? `status ${statusCode}`;
}

/** Why a peer does not tell. */
export function reasonOf(error: unknown, { ca, caFile }: KubernetesPeer): string {
  const { kind, detail } = troubleOf(error);
  if (kind === 'console_not_trusted') {
    const by = ca === '' ? 'a public CA' : caFile;
    return `its certificate does not pass by ${by} (${detail})`;
  }
  return kind === 'timed_out' ? 'it does not answer in time' : detail;
}
