// The lines that enrol a node, made of the one line that the Console gives; the token comes on standard input or from a
// file, never as an argument that `ps` would show.
import { DEPLOY_TEXTS as TEXTS } from './texts.ts';

export type Target = keyof typeof TEXTS.targets;
export type Command = { readonly about: string; readonly line: string };

/** What to run for a target, in order. */
export function commandsOf(enrollCommand: string, target: Target): readonly Command[] {
  if (target === 'checkout') return [{ about: TEXTS.onNode, line: enrollCommand }];
  const [, options = ''] = / install (.*)$/.exec(enrollCommand) ?? [];
  return [
    {
      about: TEXTS.byHandFirst,
      line: `service-sensor enroll ${options} --token-file /root/enrol-token`,
    },
    { about: TEXTS.command, line: 'service-sensor run' },
  ];
}
