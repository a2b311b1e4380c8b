// Mistakes on the node: what the Sensor believes of an answer, what it keeps, what it lets go.
import type { Files, OpenFile } from '../../../sensor/state-directory/file-port.ts';
import type { Answer } from '../../../sensor/transport/answer.ts';
import type { Transport } from '../../../sensor/transport/transport.ts';
import type { NodeTampering } from '../world/node-host.ts';
import { LONG_LIVES } from './lifetimes.ts';
import type { PlantedBug } from './planted-bug.ts';

const ONE = {
  sensors: 1,
  consoles: 1,
  hours: 0.1,
  intervals: LONG_LIVES,
  quietMs: 5_000,
  skewMs: 0,
} as const;
/** Floods meet a small spool while the way to the Console is cut. */
const FULL_SPOOL = {
  ...ONE,
  kinds: ['engine.flood', 'network.cut'],
  faultsPerHour: 200,
  spoolEventsMax: 20,
} as const;

function tamperTransport(change: (transport: Transport) => Partial<Transport>): NodeTampering {
  return {
    ports: (ports) => ({
      ...ports,
      transport: { ...ports.transport, ...change(ports.transport) },
    }),
  };
}

function changeAnswers(change: (answer: Answer) => Answer): NodeTampering {
  return tamperTransport((transport) => ({
    createClient(options) {
      const client = transport.createClient(options);
      return {
        ...client,
        post: async (path, text, more) => change(await client.post(path, text, more)),
      };
    },
  }));
}

function tamperFiles(change: (files: Files) => Partial<Files>): NodeTampering {
  return { ports: (ports) => ({ ...ports, files: { ...ports.files, ...change(ports.files) } }) };
}

function changeOpened(change: (path: string, file: OpenFile) => OpenFile): NodeTampering {
  return tamperFiles((files) => ({
    open: async (path, how, mode) => change(path, await files.open(path, how, mode)),
  }));
}

export const NODE_BUGS: readonly PlantedBug[] = [
  {
    name: 'spool-holds-one-more',
    mistake: 'The spool drops one event too late.',
    foundBy: 'spool-bound',
    options: FULL_SPOOL,
    pinnedSeed: '1',
    node: () => ({ spoolEventsMax: (eventsMax) => eventsMax + 1 }),
  },
  {
    name: 'spool-drops-too-soon',
    mistake: 'The spool drops when it is half full.',
    foundBy: 'spool-bound',
    options: FULL_SPOOL,
    pinnedSeed: '1',
    node: () => ({ spoolEventsMax: (eventsMax) => eventsMax / 2 }),
  },
  {
    name: 'sync-does-nothing',
    mistake: 'The disk is not asked to keep what was written.',
    foundBy: 'channel-order',
    options: {
      ...ONE,
      hours: 0.2,
      kinds: ['node.power_loss', 'engine.flood', 'engine.rotate'],
      faultsPerHour: 200,
    },
    pinnedSeed: '1',
    node: () => changeOpened((_path, file) => ({ ...file, sync: async () => undefined })),
  },
  {
    name: 'busy-is-taken-for-stored',
    mistake:
      'A Console that asks to try again later is understood as one that has stored the batch.',
    foundBy: 'accounting',
    options: { ...ONE, kinds: ['analytics.away'], faultsPerHour: 60 },
    pinnedSeed: '1',
    node: () =>
      tamperTransport((transport) => ({
        openStream: (client, hello, handlers, timeoutMs) =>
          transport.openStream(
            client,
            hello,
            {
              ...handlers,
              onFrame(frame) {
                const isBusy = frame.type === 'retry_after' && frame.sequence !== undefined;
                handlers.onFrame(isBusy ? { type: 'ack', sequence: frame.sequence ?? 0 } : frame);
              },
            },
            timeoutMs,
          ),
      })),
  },
  {
    name: 'next-batch-confirmed-too',
    mistake: 'An acknowledgment counts for the batch behind it as well.',
    foundBy: 'accounting',
    options: {
      ...ONE,
      kinds: ['engine.flood', 'network.cut', 'network.reset'],
      faultsPerHour: 200,
    },
    pinnedSeed: '1',
    node: () =>
      tamperTransport((transport) => ({
        openStream: (client, hello, handlers, timeoutMs) =>
          transport.openStream(
            client,
            hello,
            {
              ...handlers,
              onFrame(frame) {
                handlers.onFrame(frame);
                if (frame.type !== 'ack') return;
                handlers.onFrame({ type: 'ack', sequence: frame.sequence + 1 });
              },
            },
            timeoutMs,
          ),
      })),
  },
  {
    name: 'rotated-files-unread',
    mistake: 'What the engine had rotated away while the Sensor was down is not read.',
    foundBy: 'accounting',
    options: { ...ONE, kinds: ['node.kill', 'engine.rotate', 'engine.flood'], faultsPerHour: 300 },
    pinnedSeed: '1',
    node: () => ({
      ports: (ports) => ({
        ...ports,
        exportFiles: {
          ...ports.exportFiles,
          list: async (live) => (await ports.exportFiles.list(live)).slice(-1),
        },
      }),
    }),
  },
  {
    name: 'doubt-is-taken-for-revocation',
    mistake: 'A Console that is unsure who is revoked is understood as a revocation.',
    foundBy: 'revoked',
    options: { ...ONE, kinds: ['relational.notifications', 'relational.away'], faultsPerHour: 60 },
    pinnedSeed: '1',
    node: () =>
      changeAnswers((answer) => {
        if (answer.ok || answer.kind !== 'refused' || answer.code !== 'trust_unavailable') {
          return answer;
        }
        return { ...answer, status: 403, code: 'sensor_revoked' };
      }),
  },
];
