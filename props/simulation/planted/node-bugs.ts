// Mistakes on the node: what the Sensor believes of an answer, what it keeps, what it lets go.

import type { ExportFiles } from '../../../sensor/engine/export-files.ts';
import type { Files } from '../../../sensor/state-directory/file-port.ts';
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import type { Trouble } from '../../../sensor/transport/trouble.ts';
import type { FaultKind } from '../faults/kinds.ts';
import type { NodeTampering } from '../world/node-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, LONG_LIVES } from './settings.ts';
import { changeAnswers, tamperTransport } from './tampered-transport.ts';

const ONE = { ...CALM, quietMs: 5_000 } as const;
/** Floods meet a small spool while the way to the Console is cut. */
const FULL_SPOOL = {
  ...ONE,
  kinds: ['engine.flood', 'network.cut'],
  faultsPerHour: 200,
  spoolEventsMax: 20,
} as const;

function tamperFiles(change: (files: Files) => Partial<Files>): NodeTampering {
  return { ports: (ports) => ({ ...ports, files: { ...ports.files, ...change(ports.files) } }) };
}

/** The Console's word counts for more than the node's clock, from the first alert on. */
function believesThePeer(): NodeTampering {
  let isBelieved = false;
  const hear = (trouble: Trouble): void => {
    isBelieved ||= trouble.kind === 'certificate_expired';
  };
  return {
    now: (now) => () => now() + (isBelieved ? LONG_LIVES.CLIENT_CERTIFICATE_TTL_MS : 0),
    ...tamperTransport((transport) => ({
      createClient: (options) =>
        transport.createClient({
          ...options,
          onAnswer(path, answer) {
            if (!answer.ok && answer.kind === 'unreachable') hear(answer.trouble);
            options.onAnswer?.(path, answer);
          },
        }),
      async openStream(...given) {
        const opened = await transport.openStream(...given);
        if (!opened.ok) hear(opened.trouble);
        return opened;
      },
    })),
  };
}

const NEWLINE = 0x0a;

/** Blanks every tenth line that one life reads. */
function thinned(files: ExportFiles): ExportFiles {
  let lines = 0;
  let isBlank = false;
  return {
    ...files,
    async open(file) {
      const opened = await files.open(file);
      if (opened === undefined) return undefined;
      return {
        ...opened,
        async read(into, position) {
          const bytes = await opened.read(into, position);
          for (let at = 0; at < bytes; at += 1) {
            if (into[at] === NEWLINE) {
              lines += 1;
              isBlank = lines % 10 === 9;
            } else if (isBlank) into[at] = 0x20;
          }
          return bytes;
        },
      };
    },
  };
}

const ROTATIONS: readonly FaultKind[] = Array(5).fill('engine.rotate');
const COUNTED = /"normalized":(\d+)/;

export const NODE_BUGS: readonly PlantedBug[] = [
  {
    name: 'key-for-everybody',
    mistake: 'Private keys are written for every user to read.',
    foundBy: 'node-keys',
    options: { ...ONE, kinds: [] },
    pinnedSeed: '1',
    node: () =>
      tamperFiles((files) => ({
        open: (path, how, mode) => files.open(path, how, path.includes('.key.pem') ? 0o644 : mode),
        setMode: async () => undefined,
      })),
  },
  {
    name: 'counter-begins-again',
    mistake: 'The counter of normalised events begins again at ten.',
    foundBy: 'monotone',
    options: { ...ONE, quietMs: 1_000, kinds: ['network.slow'], faultsPerHour: 120 },
    pinnedSeed: '1',
    node: () =>
      tamperFiles((files) => ({
        async open(path, how, mode) {
          const file = await files.open(path, how, mode);
          if (!path.includes('status.json')) return file;
          return {
            ...file,
            append(bytes) {
              const text = Buffer.from(bytes).toString();
              const short = text.replace(
                COUNTED,
                (_all, count) => `"normalized":${Number(count) % 10}`,
              );
              return file.append(Buffer.from(short));
            },
          };
        },
      })),
  },
  {
    name: 'alert-ends-identity',
    mistake: 'A node takes the word of the Console for it that its certificate is over.',
    foundBy: 'own-clock',
    // Connections are made anew while the clock of the Console is wrong.
    options: { ...ONE, kinds: ['console.clock_jump', 'network.reset'], faultsPerHour: 120 },
    pinnedSeed: '6',
    node: believesThePeer,
  },
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
    name: 'spool-forgets-at-restart',
    mistake: 'The Sensor begins with an empty journal whenever it starts.',
    foundBy: 'accounting',
    options: {
      ...ONE,
      quietMs: 1_000,
      // Most accidents rotate the export, so that events exist in the journal alone.
      kinds: [...ROTATIONS, 'network.cut', 'node.kill'],
      faultsPerHour: 1_200,
      spoolEventsMax: 100_000,
    },
    pinnedSeed: '1',
    node: () => ({
      ports(ports) {
        let isFirst = true;
        return {
          ...ports,
          files: {
            ...ports.files,
            async open(path, how, mode) {
              if (path.endsWith(STATE_FILES.spool) && isFirst) {
                isFirst = false;
                await ports.files.remove(path);
              }
              return ports.files.open(path, how, mode);
            },
          },
        };
      },
    }),
  },
  {
    name: 'events-thinned',
    mistake: 'The Sensor reads one line of its export in ten as an empty one.',
    foundBy: 'accounting',
    options: { ...ONE, kinds: [], quietMs: 1_000 },
    pinnedSeed: '1',
    node: () => ({
      ports(ports) {
        return { ...ports, exportFiles: thinned(ports.exportFiles) };
      },
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
