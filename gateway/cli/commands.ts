// The commands that ask a Console, one line for each file, in the order in which help shows them; what belongs to a group
// stands below the file that makes the group. decision: D174
import type { Command } from 'commander';
import type { CommandIo } from './plumbing/command-run.ts';

type CommandFile = { addCommands(program: Command, io: CommandIo): void };

export const COMMANDS: readonly (() => Promise<CommandFile>)[] = [
  () => import('./detection/alert-commands.ts'),
  () => import('./detection/rule-commands.ts'),
  () => import('./fleet/sensor-commands.ts'),
  () => import('./containment/containment-commands.ts'),
  () => import('./fleet/sensor-label-commands.ts'),
  () => import('./telemetry/sensor-telemetry-commands.ts'),
  () => import('./fleet/label-commands.ts'),
  () => import('./trust/token-commands.ts'),
  () => import('./access/user-commands.ts'),
  () => import('./access/login-commands.ts'),
  () => import('./access/whoami-command.ts'),
  () => import('./access/own-account-commands.ts'),
  () => import('./access/api-key-commands.ts'),
  () => import('./telemetry/event-commands.ts'),
  () => import('./hunting/search-commands.ts'),
  () => import('./hunting/investigation-commands.ts'),
  () => import('./hunting/exercise-commands.ts'),
  () => import('./hunting/usual-commands.ts'),
  () => import('./audit/audit-commands.ts'),
  () => import('./license/license-commands.ts'),
  () => import('./access/sso-commands.ts'),
  () => import('./delivery/webhook-commands.ts'),
  () => import('./digest/digest-commands.ts'),
  () => import('./exports/export-commands.ts'),
  () => import('./delivery/delivery-commands.ts'),
  () => import('./siem/siem-commands.ts'),
  () => import('./policy/pack-commands.ts'),
  () => import('./policy/assignment-commands.ts'),
  () => import('./policy/rehearsal-commands.ts'),
  () => import('./policy/rollout-commands.ts'),
  () => import('./policy/policy-commands.ts'),
  () => import('./settings/settings-commands.ts'),
  () => import('./settings/setup-commands.ts'),
  () => import('./system/loop-commands.ts'),
];
