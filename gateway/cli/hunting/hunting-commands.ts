// Every command of hunting.
import type { Command } from 'commander';
import type { CommandIo } from '../plumbing/command-run.ts';
import { addExerciseCommands } from './exercise-commands.ts';
import { addInvestigationCommands } from './investigation-commands.ts';
import { addSearchCommands } from './search-commands.ts';
import { addUsualCommands } from './usual-commands.ts';

/** Registers them. */
export function addHuntingCommands(program: Command, io: CommandIo): void {
  addSearchCommands(program, io);
  addInvestigationCommands(program, io);
  addExerciseCommands(program, io);
  addUsualCommands(program, io);
}
