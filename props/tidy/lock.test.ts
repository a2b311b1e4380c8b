// Nothing is installed that is not pinned, and nothing runs at an installation that was not allowed to.
import { describe, expect, it } from 'vitest';
import { textOf } from './files.ts';

type Entry = { readonly integrity?: string; readonly hasInstallScript?: boolean };
const { packages }: { packages: Record<string, Entry> } = JSON.parse(textOf('package-lock.json'));
const { allowScripts }: { allowScripts: Record<string, boolean> } = JSON.parse(
  textOf('package.json'),
);
const locked = Object.entries(packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 13);

describe('the lock file', () => {
  it('should pin every package by its content; `node props/tidy/prune-lock.ts` takes out what cannot be', () => {
    expect(locked.length).toBeGreaterThan(100);
    expect(locked.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  });

  it('should hold no script of an installation that package.json does not speak of', () => {
    const scripts = locked
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => nameOf(path));
    expect(scripts.length).toBeGreaterThan(3);
    expect(scripts.filter((name) => !(name in allowScripts))).toEqual([]);
  });
});
