// No unverified, partial or older pack is ever in force: whatever the engine reads is one published version, whole, with
// one announced set of the sensor's own policies over it; and once a node has said that a version is in force, no older one
// comes that the highest does not name.
import { createHash } from 'node:crypto';
import type { PolicyReport, SignedPack, SignedPolicy } from '../../../machines/wire/policy.ts';

type Named = { readonly name: string; readonly digest: string };
type Version = { readonly version: number; readonly policies: readonly Named[] };

/** Nothing is published yet. */
export function createPackChecker() {
  const versions = new Map<string, Version>();
  const rollbacks = new Map<number, readonly number[]>();
  const customs: (readonly Named[])[] = [[]];
  let highest = 0;
  let problem: string | null = null;

  const named = (policies: readonly SignedPolicy[]): readonly Named[] =>
    policies.map(({ name, yaml }) => ({
      name,
      digest: createHash('sha256').update(yaml).digest('hex'),
    }));
  const keyOf = (policies: readonly Named[]): string =>
    policies.map(({ name, digest }) => `${name} ${digest}`).join('\n');

  /** Every whole set there can be, and the versions it may be of; 0 = no pack. */
  function versionsOf(set: readonly Named[]): readonly number[] {
    const found: number[] = [];
    const all: readonly Version[] = [{ version: 0, policies: [] }, ...versions.values()];
    for (const custom of customs) {
      const names = custom.map(({ name }) => name);
      for (const { version, policies } of all) {
        const whole = [...custom, ...policies.filter(({ name }) => !names.includes(name))];
        if (keyOf(whole) === keyOf(set)) found.push(version);
      }
    }
    return found;
  }

  function fits(version: number): boolean {
    return version === 0 || version >= highest || (rollbacks.get(highest) ?? []).includes(version);
  }

  return {
    published(pack: SignedPack): void {
      versions.set(pack.manifest_signature, {
        version: pack.version,
        policies: named(pack.policies),
      });
      rollbacks.set(pack.version, pack.rollback_to);
    },
    custom: (policies: readonly SignedPolicy[]): void => void customs.push(named(policies)),
    /** The engine reads this set. */
    inForce(lines: readonly string[]): void {
      if (problem !== null) return;
      const set = lines.map((line) => {
        const [name = '', , digest = ''] = line.split(' ');
        return { name, digest };
      });
      const found = versionsOf(set);
      if (found.length === 0) problem = `unverified or partial: ${lines.join('; ')}`;
      else if (!found.some(fits)) problem = `older than ${highest}: version ${found.join(' or ')}`;
    },
    /** A node tells what is in force: from then on nothing older. */
    told(report: PolicyReport): void {
      highest = Math.max(highest, report.in_force?.version ?? 0);
    },
    problem: () => problem,
  };
}
