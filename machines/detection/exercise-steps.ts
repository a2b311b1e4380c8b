// Harmless steps that look like what attackers do, each with its ATT&CK technique. A step is a few lines for the shell,
// run by hand of whoever has one on the node; it reads public things, works in a folder of its own that it removes, and
// leaves no trace but its events. Those are found by a mark among the arguments of the shell. decision: D146
import type { Condition } from './condition.ts';

export type ExerciseStep = {
  readonly step: string;
  readonly title: string;
  readonly technique: string;
  readonly tactic: string;
  /** For `/bin/sh`; `$DIR` is the folder of its own. What is not installed there is passed over. */
  readonly script: string;
};

const step = (
  id: string,
  [technique, tactic]: readonly [string, string],
  title: string,
  script: string,
): ExerciseStep => ({ step: id, title, technique, tactic, script });

export const EXERCISE_STEPS: readonly ExerciseStep[] = [
  step('whoami', ['T1033', 'discovery'], 'Ask who one is', 'id; whoami'),
  step(
    'system-information',
    ['T1082', 'discovery'],
    'Ask for the system and its kernel',
    'uname -a; cat /etc/os-release',
  ),
  step('processes', ['T1057', 'discovery'], 'List processes', 'ps aux || ls /proc'),
  step(
    'network-configuration',
    ['T1016', 'discovery'],
    'Read routes and resolvers',
    'cat /proc/net/route /etc/resolv.conf',
  ),
  step(
    'network-connections',
    ['T1049', 'discovery'],
    'List open connections',
    'cat /proc/net/tcp; ss -tn || netstat -tn',
  ),
  step('files', ['T1083', 'discovery'], 'Look through folders', 'ls -la /etc /var/log /tmp'),
  step(
    'accounts',
    ['T1087.001', 'discovery'],
    'List local accounts',
    'cat /etc/passwd; getent passwd',
  ),
  step('groups', ['T1069.001', 'discovery'], 'List local groups', 'cat /etc/group; groups'),
  step(
    'password-hashes',
    ['T1003.008', 'credential-access'],
    'Open the file of password hashes, reading nothing',
    'head -c 0 /etc/shadow',
  ),
  step(
    'private-keys',
    ['T1552.004', 'credential-access'],
    'Look for private keys in a folder of its own',
    'touch "$DIR/id_rsa"; find "$DIR" -name "id_*" -o -name "*.pem"',
  ),
  step(
    'shell-history',
    ['T1552.003', 'credential-access'],
    'Search a history of its own for passwords',
    'echo "login --password x" > "$DIR/.bash_history"; grep -i password "$DIR/.bash_history"',
  ),
  step(
    'decode',
    ['T1140', 'defense-evasion'],
    'Decode a hidden command and run it',
    'echo aWQK | base64 -d | sh',
  ),
  step(
    'hidden-file',
    ['T1564.001', 'defense-evasion'],
    'Make a hidden file',
    'touch "$DIR/.cache-x"; ls -la "$DIR"',
  ),
  step(
    'masquerade',
    ['T1036.005', 'defense-evasion'],
    'Run a harmless program under the name of a service',
    'cp /bin/true "$DIR/sshd"; "$DIR/sshd"',
  ),
  step(
    'time-stomp',
    ['T1070.006', 'defense-evasion'],
    'Set the time of a file of its own back',
    'touch "$DIR/x"; touch -d 2020-01-01 "$DIR/x"',
  ),
  step(
    'clean-up',
    ['T1070.004', 'defense-evasion'],
    'Delete what was brought along',
    'touch "$DIR/tool"; rm -f "$DIR/tool"',
  ),
  step(
    'permissions',
    ['T1222.002', 'defense-evasion'],
    'Make a file of its own executable for everybody',
    'touch "$DIR/tool"; chmod 777 "$DIR/tool"',
  ),
  step(
    'setuid-programs',
    ['T1548.001', 'privilege-escalation'],
    'Look for programs that run as another user',
    'find /usr/bin -maxdepth 1 -perm -4000',
  ),
  step(
    'unix-shell',
    ['T1059.004', 'execution'],
    'Run a script that another shell was handed',
    'echo "echo step" > "$DIR/run.sh"; sh "$DIR/run.sh"',
  ),
  step(
    'scheduled-jobs',
    ['T1053.003', 'persistence'],
    'List scheduled jobs',
    'crontab -l; ls /etc/cron.d',
  ),
  step(
    'archive-files',
    ['T1560.001', 'collection'],
    'Pack a folder of its own',
    'echo secret > "$DIR/data"; tar cf "$DIR/out.tar" -C "$DIR" data',
  ),
  step(
    'name-lookup',
    ['T1071.004', 'command-and-control'],
    'Look up a name that never exists',
    'getent hosts exercise.invalid',
  ),
];

/** The step with this name; undefined when there is none. */
export function exerciseStep(name: string): ExerciseStep | undefined {
  return EXERCISE_STEPS.find((one) => one.step === name);
}

/** What every event of a step has among its arguments or above them. */
export function markOfStep(name: string): string {
  return `service-exercise:${name}:`;
}

/** The arguments of `/bin/sh`. The mark stands last, so that no shell puts the last command in its own place. */
export function shellOfStep({ step: name, script }: ExerciseStep, run: string): readonly string[] {
  return ['-c', `${script}\n: ${markOfStep(name)}${run}`];
}

/** The events of a step: what was started under its mark, and whatever that did. */
export function conditionOfStep(name: string): Condition {
  const text = markOfStep(name);
  const fields = ['process.arguments', 'parent.arguments', 'ancestors.arguments'] as const;
  return { is: 'either', of: fields.map((field) => ({ is: 'contains', field, text })) };
}
