// The lines that enrol a node, made of the one line that the Console gives; the token comes on standard input or from a
// file, never as an argument that `ps` would show. What runs in a container only reaches through to the node: a Sensor
// watches its node from the node. decision: D68
import type { Flavor } from '../../../machines/wire/scalars.ts';
import { DEPLOY_TEXTS as TEXTS } from './texts.ts';

export type Target = keyof typeof TEXTS.targets;
export type Command = { readonly about: string; readonly line: string };

const LINE = /^sh -c "\$\((curl .+ (https:\S+\/install\.sh))\)" install (.+)$/;
const IMAGE = 'debian:stable-slim';

/** The flavor that the Console's line names. */
export function flavorOf(enrollCommand: string): Flavor {
  return / --flavor telecom( |$)/.test(enrollCommand) ? 'telecom' : 'standard';
}

/** What to run for a target, in order; nothing when the line is none that this page knows. */
export function commandsOf(
  enrollCommand: string,
  { target, flavor }: { readonly target: Target; readonly flavor: Flavor },
): readonly Command[] {
  const line = enrollCommand.replace(/ --flavor \S+/, ` --flavor ${flavor}`);
  const [, fetch = '', , options = ''] = LINE.exec(line) ?? [];
  // Nothing of it holds a single quote, so it can stand between two.
  const quoted = line.includes("'") ? null : `'${line}'`;
  switch (target) {
    case 'linux':
      return [{ about: TEXTS.onNode, line }];
    case 'read':
      return [
        { about: TEXTS.download, line: `${fetch} -o install.sh` },
        { about: TEXTS.read, line: 'less install.sh' },
        { about: TEXTS.run, line: `sh install.sh ${options}` },
      ];
    case 'container':
      return through(
        TEXTS.onHost,
        `docker run --rm -it --privileged --pid=host ${IMAGE} nsenter -t 1 -m -u -i -n`,
        quoted,
      );
    case 'kubernetes':
      return through(
        TEXTS.onCluster,
        `kubectl debug node/NODE -it --profile=sysadmin --image=${IMAGE} -- chroot /host`,
        quoted,
      );
    case 'manual':
      return [
        {
          about: TEXTS.byHandFirst,
          line: `service-sensor enroll ${options} --token-file /root/enrol-token`,
        },
        { about: TEXTS.command, line: 'service-sensor run' },
      ];
    default:
      return target satisfies never;
  }
}

function through(about: string, reach: string, quoted: string | null): readonly Command[] {
  return quoted === null ? [] : [{ about, line: `${reach} sh -c ${quoted}` }];
}
