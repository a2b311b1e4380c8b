// Commands that run a Console instead of talking to one live in modules of their own, loaded only when they are asked
// for: an operator command must not pay for the stores.

const STARTERS = {
  quickstart: { file: './quickstart.ts', run: 'runQuickstart' },
  serve: { file: './serve.ts', run: 'runServe' },
  migrate: { file: './migrate.ts', run: 'runMigrate' },
  keys: { file: './keys.ts', run: 'runKeys' },
} as const;
export type StarterName = keyof typeof STARTERS;

/** Loads a starter and runs it with its options; it may answer with an exit code. */
export async function runStarter(name: StarterName, options: unknown): Promise<unknown> {
  const { file, run } = STARTERS[name];
  const loaded: Record<string, unknown> = await import(file);
  const starter = loaded[run];
  if (typeof starter !== 'function') throw new Error(`${file} does not export ${run}`);
  return starter(options);
}
