import { describe, expect, it } from 'vitest';
import { programPath } from './program-path.ts';

describe('how a printed line names the program', () => {
  it('should be a path that a shell takes as it stands, and never ask a registry', () => {
    expect(programPath()).toMatch(/^'?\/.*\/gateway\/cli\/service-console\.js'?$/);
    expect(programPath('/srv/my console/it.js')).toBe("'/srv/my console/it.js'");
    expect(programPath("/a'b.js")).toBe("'/a'\\''b.js'");
  });
});
