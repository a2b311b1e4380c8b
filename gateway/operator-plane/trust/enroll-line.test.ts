import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { enrollLine, foldLine } from './enroll-line.ts';
import { nodeUrl } from './node-url.ts';

const facts = {
  url: 'https://192.168.100.200:15483',
  keyPin: 'k'.repeat(43).concat('='),
  caFingerprint: 'AB:'.repeat(31).concat('CD'),
  flavor: 'telecom',
} as const;

describe('the line that enrols a node', () => {
  it('should pin the key, name the CA and the flavor, and hold no token', () => {
    const line = enrollLine(facts);
    expect(line).toContain(`--pinnedpubkey sha256//${facts.keyPin} ${facts.url}/install.sh`);
    expect(line).toContain(`--ca-fingerprint ${'ab'.repeat(31)}cd`);
    expect(line).toContain('--flavor telecom');
    expect(line).not.toMatch(/token/);
  });

  it('should mean the same to a shell when it is folded, and fit the columns', () => {
    const folded = foldLine(enrollLine(facts), 80);
    for (const row of folded.split('\n')) expect(row.length).toBeLessThanOrEqual(80);
    // What the shell makes of both, with a program that prints its arguments in the place of each.
    const meant = (line: string) =>
      execFileSync(
        'sh',
        ['-c', `curl() { echo "fetched $*"; }; sh() { printf '%s\\n' "$@"; }\n${line}`],
        {
          encoding: 'utf8',
        },
      );
    expect(meant(folded)).toBe(meant(enrollLine(facts)));
    expect(meant(folded)).toContain('fetched -fsSk --pinnedpubkey');
  });
});

describe('where a node reaches the Console', () => {
  const of = (
    baseUrl: string,
    bind: string,
    addresses: Parameters<typeof nodeUrl>[0]['addresses'],
  ) => nodeUrl({ baseUrl, bind, port: 15_483, addresses });
  const eth = { name: 'eth0', address: '10.0.0.5', family: 'IPv4', internal: false } as const;
  const bridge = {
    name: 'docker0',
    address: '172.17.0.1',
    family: 'IPv4',
    internal: false,
  } as const;
  const six = { name: 'eth0', address: '2001:db8::5', family: 'IPv6', internal: false } as const;
  const local = { name: 'eth0', address: 'fe80::1', family: 'IPv6', internal: false } as const;
  const loop = { name: 'lo', address: '127.0.0.1', family: 'IPv4', internal: true } as const;

  it('should be the base URL where one is set', () => {
    expect(of('https://console.example', '0.0.0.0', [eth])).toEqual({
      url: 'https://console.example',
      isForOthers: true,
    });
  });

  it('should never be localhost where the machine has an address', () => {
    for (const base of ['https://localhost:15483', 'https://127.0.0.1:15483', 'https://[::1]:1']) {
      expect(of(base, '0.0.0.0', [loop, bridge, local, six, eth]).url).toBe(
        'https://10.0.0.5:15483',
      );
    }
    expect(of('https://localhost:15483', '::', [loop, bridge, six]).url).toBe(
      'https://[2001:db8::5]:15483',
    );
    expect(of('https://localhost:15483', '0.0.0.0', [loop, bridge]).url).toBe(
      'https://172.17.0.1:15483',
    );
  });

  it('should be the address it listens on alone, and say so when no other node reaches that', () => {
    expect(of('https://localhost:1', '10.9.9.9', [eth]).url).toBe('https://10.9.9.9:15483');
    expect(of('https://localhost:1', '127.0.0.1', [eth])).toEqual({
      url: 'https://127.0.0.1:15483',
      isForOthers: false,
    });
    expect(of('https://localhost:1', '0.0.0.0', [loop]).isForOthers).toBe(false);
  });
});
