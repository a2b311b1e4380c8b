// Before mutants are asked again: the tool takes over what it said of a static mutant (one that is there when a module loads),
// whatever tests came since. Those that nobody killed are forgotten, so that it asks them as well.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

type Mutant = { readonly static?: boolean; readonly status: string };
type Report = { readonly files: Readonly<Record<string, { mutants: readonly Mutant[] }>> };

/** Takes the static mutants that survived out of a report, if there is one. */
export function forgetStaticSurvivors(path: string): void {
  if (!existsSync(path)) return;
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  for (const file of Object.values(report.files)) {
    file.mutants = file.mutants.filter((one) => !(one.static && one.status === 'Survived'));
  }
  writeFileSync(path, JSON.stringify(report));
}
