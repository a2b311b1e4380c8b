import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  asksForRoot,
  excusesWithoutRoot,
  filesWithSkips,
  mistakesOf,
  testsOf,
} from '../skipped.ts';
import { ROOT, textOf } from './files.ts';

const report = (checkout: string, tests: Readonly<Record<string, string>>) => ({
  testResults: [
    {
      name: `${checkout}/sensor/engine/ebpf.test.ts`,
      assertionResults: Object.entries(tests).map(([fullName, status]) => ({ fullName, status })),
    },
  ],
});
const bare = testsOf(report('/srv/a clone', { 'a b': 'passed', 'a c': 'skipped' }));

describe('skipped tests', () => {
  it('should be known by their place in the house, wherever the checkout lies', () => {
    expect(filesWithSkips(bare)).toEqual(['sensor/engine/ebpf.test.ts']);
  });

  it('should be no mistake when another run ran them, in another checkout', () => {
    const other = testsOf(report('/home/builder', { 'a c': 'passed' }));
    expect(mistakesOf([...bare, ...other], [])).toEqual({ unexcused: [], idle: [] });
  });

  it('should be a mistake when no run ran them and no reason is given', () => {
    const other = testsOf(report('/home/builder', { 'a c': 'pending' }));
    expect(mistakesOf([...bare, ...other], []).unexcused).toEqual([
      'sensor/engine/ebpf.test.ts: a c',
    ]);
  });

  it('should be excused by file or by name, and an excuse for nothing is a mistake', () => {
    const file = 'sensor/engine/ebpf.test.ts';
    expect(mistakesOf(bare, [{ file, test: 'a c', reason: 'r' }])).toEqual({
      unexcused: [],
      idle: [],
    });
    expect(mistakesOf(bare, [{ file, test: 'a d', reason: 'r' }])).toEqual({
      unexcused: [`${file}: a c`],
      idle: [`${file}: a d`],
    });
  });

  it('should be seen in every run of tests that the whole proof makes', () => {
    const [whole, engine] = [textOf('.ci/run'), textOf('.ci/engine')];
    const made = [...whole.matchAll(/\$\(report (\w+)\)/g)].map(([, name]) => name);
    const read = [...whole.matchAll(/"\$reports"\/(\w+)\.json/g)].map(([, name]) => name);
    expect([...new Set(read)].sort()).toEqual(made.sort());
    expect(made).toEqual(['bare', 'engine', 'root', 'services']);
    expect(engine).toMatch(/vitest run .*"\$native" "\$@"$/m);
    expect(whole).toMatch(/^step "skips" skips$/m);
  });

  it('should be excused without root where a file asks for root, and nowhere else', () => {
    for (const file of [
      'sensor/engine/native/ebpf-full-disk.services.test.ts',
      'props/journeys/outage.services.test.ts',
      'sensor/telemetry/sockets.services.test.ts',
    ]) {
      expect([file, asksForRoot(file)]).toEqual([file, true]);
    }
    const others = [
      'props/attacks/redis-away.services.test.ts',
      'gateway/listener/uws-loader.test.ts',
    ];
    const skipped = others.map((file) => ({ file, name: 'a b', status: 'skipped' }));
    expect(excusesWithoutRoot(skipped)).toEqual([]);
  });

  it('should stand on the list with a reason and a file that exists', () => {
    const list = JSON.parse(textOf('props/skipped.json')) as { file: string; reason: string }[];
    const wrong = list.filter(
      ({ file, reason }) => !existsSync(join(ROOT, file)) || reason.length < 10,
    );
    expect(wrong).toEqual([]);
  });
});
