import { describe, expect, it } from 'vitest';
import { AUDIT_ACTIONS } from '../../machines/audit-actions.ts';
import { ALERT_KINDS } from '../../machines/console/delivery/alert.ts';
import { ERRORS } from '../../machines/errors.ts';
import { auditPage, errorsPage, LIMITS, limitsPage } from '../pages/pages.ts';
import { filesLike, textOf } from './files.ts';
import { LATER_CODES, LATER_LIMITS } from './later.ts';

const sources = filesLike(/^(machines|actors|gateway|storage|sensor)\/.*\.ts$/).filter(
  (path) => !path.endsWith('.test.ts'),
);
const DECLARING = /^machines\/(.*\/)?([a-z]+-)?(limits|errors)\.ts$/;
const users = sources.filter((path) => !DECLARING.test(path)).map(textOf);
const used = (word: string) => users.some((text) => new RegExp(`\\b${word}\\b`).test(text));

describe('error catalogue', () => {
  it('should stand on its page as it stands in the code: `npm run pages` writes it', () => {
    expect(textOf('gateway/ERRORS.md')).toBe(errorsPage());
  });

  it('should hold every code that is declared, each once', () => {
    const declared = filesLike(/^machines\/(console\/[a-z]+\/)?errors\.ts$/).flatMap((path) =>
      [...textOf(path).matchAll(/^ {2}([a-z_]+): \{/gm)].map(([, code]) => code ?? ''),
    );
    expect(declared.sort()).toEqual(Object.keys(ERRORS).sort());
  });

  it('should hold only codes that are in use, but for those of later capabilities', () => {
    const unused = Object.keys(ERRORS).filter((code) => !used(code));
    expect(unused).toEqual([...LATER_CODES].sort((a, b) => unused.indexOf(a) - unused.indexOf(b)));
  });
});

describe('limits', () => {
  it('should stand on their page as they stand in the code: `npm run pages` writes it', () => {
    expect(textOf('machines/LIMITS.md')).toBe(limitsPage());
  });

  it('should all be used, but for those of later capabilities', () => {
    const names = Object.keys(LIMITS).filter(
      (name) => /^[A-Z][A-Z0-9_]+$/.test(name) && name !== 'INTERVALS',
    );
    const unused = names.filter((name) => !used(name));
    expect(unused.sort()).toEqual([...LATER_LIMITS].sort());
  });
});

describe('alert kinds', () => {
  it('should all be raised: a route that asks for one waits for something', () => {
    const raisers = sources.filter((path) => path !== 'machines/console/delivery/alert.ts');
    const text = raisers.map(textOf).join('\n');
    // As an alert says its kind, in one step or in two.
    const isRaised = (kind: string) =>
      new RegExp(String.raw`(kind: |KIND = |return |\? |: )'${kind}'`).test(text);
    expect(ALERT_KINDS.filter((kind) => !isRaised(kind))).toEqual([]);
  });
});

describe('audit actions', () => {
  it('should stand on their page as they stand in the code: `npm run pages` writes it', () => {
    expect(textOf('gateway/AUDIT.md')).toBe(auditPage());
  });

  it('should hold every action that a capability declares, each once and each in use', () => {
    const declared = filesLike(/^machines\/console\/[a-z]+\/audit-actions\.ts$/).flatMap((path) =>
      [...textOf(path).matchAll(/^ {2}'([a-z_.]+)':/gm)].map(([, action]) => action ?? ''),
    );
    expect(declared.sort()).toEqual(Object.keys(AUDIT_ACTIONS).sort());
    const writers = sources.filter((path) => !path.startsWith('machines/')).map(textOf);
    // Labels write theirs as their kind and what was done.
    const unused = declared
      .filter((action) => !/^(team|group)\./.test(action))
      .filter((action) => !writers.some((text) => text.includes(`'${action}'`)));
    expect(unused).toEqual([]);
  });
});
