// What a node without anything needs to become a Sensor: the script, the package and its checksum. For everybody, as the
// CA is: nothing of it is secret, and the line that fetches it pins the Console's key. decision: D68; invariant: I10, I18
import { readFileSync } from 'node:fs';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import {
  RETRY_AFTER_PACKAGE_MS,
  SENSOR_PACKAGE_DOWNLOADS_MAX,
} from '../../../machines/console/trust/first-hour-limits.ts';
import { refuse } from '../../../machines/errors.ts';
import type { SensorPackages } from '../../console-ports.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';

// Read once with the program: a start that waits for a disk here is not the same each time.
const SCRIPT = readFileSync(new URL('./install.sh', import.meta.url), 'utf8');
const ARCHIVE = 'linux-x64.tar.gz';
const SUM = `${ARCHIVE}.sha256`;

export type InstallRouteDeps = {
  readonly version: string;
  readonly packages: Pick<SensorPackages, 'find'>;
};

export function installRoutes(deps: InstallRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const script = SCRIPT.replace('@VERSION@', shellSafe(deps.version));
    let downloads = 0;

    app.get('/install.sh', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'installScript',
        summary: 'The script that installs and enrols a Sensor',
        tags: ['trust'],
        response: { 200: text('text/x-shellscript'), ...refusals(429) },
      },
      async handler(_request, reply) {
        // Whoever asks for the script asks for the package next: where it is missing, making it begins now.
        await deps.packages.find();
        return reply.header('content-type', 'text/x-shellscript; charset=utf-8').send(script);
      },
    });

    app.get('/sensor-package/:version/:file', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'sensorPackage',
        summary: "The Sensor's package for a platform, or its SHA-256",
        tags: ['trust'],
        params: Strict({
          version: Type.String({ maxLength: 64 }),
          file: Type.Enum([ARCHIVE, SUM]),
        }),
        response: { 200: text('application/gzip'), ...refusals(404, 422, 429, 503) },
      },
      async handler(request, reply) {
        const { version, file } = request.params;
        if (version !== deps.version) {
          const detail = `This Console has the package of version ${deps.version}.`;
          return sendRefusal(reply, refuse('not_found', detail));
        }
        const found = await deps.packages.find();
        if (found.kind !== 'ready') return notReady(reply, found);
        if (file === SUM) {
          return reply.type('text/plain').send(`${found.sha256}  ${ARCHIVE}\n`);
        }
        if (downloads >= SENSOR_PACKAGE_DOWNLOADS_MAX) {
          const detail = 'Too many nodes fetch the package at once.';
          const retry = { retryAfterMs: RETRY_AFTER_PACKAGE_MS };
          return sendRefusal(reply, refuse('overloaded', detail, retry));
        }
        downloads += 1;
        const bytes = found.open();
        bytes.once('close', () => {
          downloads -= 1;
        });
        return (reply as FastifyReply).type('application/gzip').send(bytes);
      },
    });
  };
}

function notReady(
  reply: FastifyReply,
  found: Exclude<Awaited<ReturnType<SensorPackages['find']>>, { kind: 'ready' }>,
): FastifyReply {
  if (found.kind === 'missing') {
    return sendRefusal(reply, refuse('sensor_package_missing', found.reason));
  }
  return sendRefusal(
    reply,
    refuse(
      'sensor_package_pending',
      'The package is being made; this takes about a minute, once.',
      {
        retryAfterMs: RETRY_AFTER_PACKAGE_MS,
      },
    ),
  );
}

const text = (type: string) => ({
  description: type,
  content: { [type]: { schema: Type.String() } },
});

// It stands between quotes of a shell.
function shellSafe(version: string): string {
  return version.replaceAll(/[^\w.+-]/g, '');
}
