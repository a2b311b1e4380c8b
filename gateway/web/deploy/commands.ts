// The lines that enrol a node, made of the one line that the Console gives; the token comes on standard input or from a
// file, never as an argument that `ps` would show.
import { DEPLOY_TEXTS as TEXTS } from './texts.ts';

export type Target = keyof typeof TEXTS.targets;
export type Command = { readonly about: string; readonly line: string };

/** What to run for a target, in order. */
export function commandsOf(enrollCommand: string, target: Target): readonly Command[] {
  const [, options = ''] = /^service-sensor enroll (.*) --token-file -$/.exec(enrollCommand) ?? [];
  if (target === 'checkout') {
    const line = `npx service-sensor run ${options} --token-file -`;
    return [{ about: TEXTS.onNode, line }];
  }
  return [
    {
      about: TEXTS.byHandFirst,
      line: `npx service-sensor enroll ${options} --token-file /root/enrol-token`,
    },
    { about: TEXTS.command, line: 'npx service-sensor run' },
  ];
}
