// Ways to plant a mistake between a node and its Console.
import type { Answer } from '../../../sensor/transport/answer.ts';
import type { ConsoleClient } from '../../../sensor/transport/console-client.ts';
import type { Transport } from '../../../sensor/transport/transport.ts';
import type { NodeTampering } from '../world/node-host.ts';

/** Puts something in the place of parts of a node's transport. */
export function tamperTransport(
  change: (transport: Transport) => Partial<Transport>,
): NodeTampering {
  return {
    ports: (ports) => ({
      ...ports,
      transport: { ...ports.transport, ...change(ports.transport) },
    }),
  };
}

/** Changes every answer that a node gets, wherever it looks at it. */
export function changeAnswers(change: (answer: Answer) => Answer): NodeTampering {
  return tamperTransport((transport) => ({
    createClient(options) {
      const client = transport.createClient({
        ...options,
        onAnswer: (path, answer) => options.onAnswer?.(path, change(answer)),
      });
      return {
        ...client,
        post: async (path, text, more) => change(await client.post(path, text, more)),
      };
    },
  }));
}

/** Changes what a node is answered to what it posts; `begin` is called once for each client. */
export function changePosts(
  begin: (client: ConsoleClient) => (answer: Answer, path: string, text: string) => Answer,
): NodeTampering {
  return tamperTransport((transport) => ({
    createClient(options) {
      const client = transport.createClient(options);
      const change = begin(client);
      return {
        ...client,
        post: async (path, text, more) => change(await client.post(path, text, more), path, text),
      };
    },
  }));
}
