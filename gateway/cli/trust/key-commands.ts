// The commands about the keys of a Console's data directory. They work on the directory itself, while no Console runs on
// it. decision: D70
import type { Command } from 'commander';
import type { KeysOptions } from '../start/keys.ts';

/** Adds them. */
export function addKeyCommands(
  program: Command,
  run: (options: KeysOptions) => Promise<void>,
): void {
  const keys = program
    .command('keys')
    .description('the keys of this data directory, while its Console is stopped');
  keys
    .command('list')
    .description('each key, how old it is and how long it should serve')
    .action(() => run({ action: 'list' }));
  keys
    .command('rotate <ca|sealer|audit-checkpoint>')
    .description('change a key; the authority (ca) takes three steps, each done by this command')
    .option('--force', 'ca: do not wait for nodes that do not know the new root yet')
    .action((key: string, { force = false }: { force?: boolean }) =>
      run({ action: 'rotate', key, isForced: force }),
    );
  keys
    .command('reseal')
    .description('seal every kept secret with the newest key, and remove the keys before it')
    .action(() => run({ action: 'reseal' }));
}
