// The pure transforms of the pipeline, each by the laws it keeps.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DNS_NAME_TTL_MS } from '../../machines/pipeline-limits.ts';
import { RuntimeEvent } from '../../machines/wire/event.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import { foldBursts } from '../../sensor/pipeline/bursts.ts';
import { containerKey, containerOfCgroup } from '../../sensor/pipeline/container-id.ts';
import { createDnsNames } from '../../sensor/pipeline/dns-names.ts';
import { mitreOf } from '../../sensor/pipeline/mitre.ts';
import { PATHS, PROGRAMS } from '../../sensor/pipeline/mitre-rules.ts';
import { eventLike } from './event-like.ts';

const check = parserOfValue(RuntimeEvent);
const MIN = 10;

describe('bursts', () => {
  const member = fc.record({
    parent: fc.constantFrom('p1', 'p2'),
    binary: fc.constantFrom('/bin/sh', '/bin/ls'),
    text: fc.constantFrom('-c id', '-c "curl evil"', ''),
    number: fc.nat(9_999),
    kind: fc.constantFrom('process_exec', 'process_exit', 'file_open'),
  });
  const storm = fc.array(member, { maxLength: 200 }).map((members) =>
    members.map(({ parent, binary, text, number, kind }, at) =>
      eventLike(at, {
        event_kind: kind as 'process_exec',
        process: { exec_id: `e${at}`, pid: at, binary, arguments: `${text} ${number}` },
        parent: { exec_id: parent, pid: 1, binary: '/usr/bin/make' },
      }),
    ),
  );

  it('never lose an event: what was told is the sum of what is told', () => {
    fc.assert(
      fc.property(storm, (events) => {
        const folded = foldBursts(events, MIN);
        const told = folded.events.reduce((sum, one) => sum + (one.occurrences ?? 1), 0);
        expect(told).toBe(events.length);
        expect(folded.aggregated).toBe(events.length - folded.events.length);
        for (const event of folded.events) expect(check(event).ok).toBe(true);
        expect(new Set(folded.events.map((one) => one.event_id)).size).toBe(folded.events.length);
      }),
      { numRuns: 60 },
    );
  });

  it('never fold deeds that differ in more than a number', () => {
    fc.assert(
      fc.property(storm, (events) => {
        const keyOf = (one: RuntimeEvent): string =>
          [
            one.parent?.exec_id,
            one.process?.binary,
            one.process?.arguments?.replace(/\d+/g, ''),
          ].join();
        for (const one of foldBursts(events, MIN).events) {
          if (one.occurrences === undefined) continue;
          const same = events.filter((event) => keyOf(event) === keyOf(one));
          expect(one.occurrences).toBeLessThanOrEqual(same.length);
          expect(one.occurrences).toBeGreaterThanOrEqual(MIN);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('always say who started how many, from when to when', () => {
    const events = Array.from({ length: 12 }, (_, at) =>
      eventLike(at, {
        process: { exec_id: `e${at}`, pid: at, binary: '/bin/sh', arguments: `-c ${at}` },
        parent: { exec_id: 'p', pid: 1, binary: '/usr/bin/make' },
      }),
    );
    const { events: folded, aggregated } = foldBursts(events);
    expect(aggregated).toBe(11);
    expect(folded).toMatchObject([
      {
        event_kind: 'process_burst',
        occurrences: 12,
        first_observed_at: events[0]?.observed_at,
        observed_at: events[11]?.observed_at,
        message: '/bin/sh was started 12 times by /usr/bin/make, first: -c 0',
      },
    ]);
    expect(folded[0]?.event_id).not.toBe(events[0]?.event_id);
    expect(foldBursts(events).events).toEqual(folded);
  });

  it('never fold what a policy named, or what has no parent', () => {
    const named = Array.from({ length: 20 }, (_, at) =>
      eventLike(at, {
        parent: { exec_id: 'p', pid: 1, binary: 'm' },
        policy: { name: 'x', action: 'post' },
      }),
    );
    const orphans = Array.from({ length: 20 }, (_, at) => eventLike(at));
    expect(foldBursts([...named, ...orphans]).aggregated).toBe(0);
  });
});

describe('names of addresses', () => {
  const asked = eventLike(1, {
    event_kind: 'dns_query',
    network: { protocol: 'udp', direction: 'outbound', domain: 'a.test' },
    network_namespace: '1',
  });
  const connected = eventLike(2, {
    event_kind: 'network_connect',
    network: { protocol: 'tcp', direction: 'outbound', destination_ip: '192.0.2.1' },
    network_namespace: '1',
  });

  it('always name a connection by the last answer of its own network namespace', () => {
    const names = createDnsNames();
    names.learn(asked, ['192.0.2.1'], 0);
    expect(names.named(connected, 1).network?.domain).toBe('a.test');
    expect(names.named({ ...connected, network_namespace: '2' }, 1).network?.domain).toBe(
      undefined,
    );
    const mapped = { ...connected.network, destination_ip: '::ffff:192.0.2.1' };
    const six = { ...connected, network: { protocol: 'tcp', direction: 'outbound', ...mapped } };
    expect(names.named(six as RuntimeEvent, 1).network?.domain).toBe('a.test');
  });

  it('never believe an answer beyond its time, nor keep more than their bound', () => {
    const names = createDnsNames(4);
    names.learn(asked, ['192.0.2.1'], 0);
    expect(names.named(connected, DNS_NAME_TTL_MS).network?.domain).toBe('a.test');
    expect(names.named(connected, DNS_NAME_TTL_MS + 1).network?.domain).toBe(undefined);
    for (let at = 0; at < 50; at += 1) names.learn(asked, [`192.0.2.${at}`], at);
    expect(names.size()).toBe(4);
  });
});

describe('techniques', () => {
  it('always look like ATT&CK', () => {
    const tags = [...[...PROGRAMS.values()].flat(), ...PATHS.map(({ tagged }) => tagged)];
    for (const tag of tags) {
      expect(tag?.[0]).toMatch(/^T\d{4}(\.\d{3})?$/);
      expect(tag?.[1]).toMatch(/^[a-z-]+$/);
    }
  });

  it.each([
    ['process_exec', { process: { exec_id: 'a', pid: 1, binary: '/bin/sh' } }, 'T1059.004'],
    ['process_exec', { process: { exec_id: 'a', pid: 1, binary: '/opt/python3.12' } }, 'T1059.006'],
    ['process_exec', { process: { exec_id: 'a', pid: 1, binary: '/memfd:x' } }, 'T1620'],
    ['file_open', { file: { path: '/etc/shadow', operation: 'open' } }, 'T1003.008'],
    [
      'file_write',
      { file: { path: '/root/.ssh/authorized_keys', operation: 'write' } },
      'T1098.004',
    ],
    ['file_write', { file: { path: '/var/log/auth.log', operation: 'unlink' } }, 'T1070.002'],
    ['kernel_module_load', {}, 'T1547.006'],
    [
      'network_connect',
      {
        network: { protocol: 'tcp', direction: 'outbound', destination_ip: '169.254.169.254' },
      },
      'T1552.005',
    ],
    ['process_exec', { process: { exec_id: 'a', pid: 1, binary: '/usr/bin/vi' } }, undefined],
    ['file_open', { file: { path: '/srv/x', operation: 'open' } }, undefined],
  ] as const)('always name %s %j', (kind, rest, technique) => {
    expect(mitreOf(eventLike(1, { event_kind: kind, ...rest }))?.technique).toBe(technique);
  });

  it('always know an escape from a container', () => {
    const process = { exec_id: 'a', pid: 1, binary: '/usr/bin/nsenter' };
    expect(mitreOf(eventLike(1, { process }))?.technique).toBe('T1548');
    const contained = eventLike(1, { process, workload: { container_id: 'c' } });
    expect(mitreOf(contained)?.technique).toBe('T1611');
  });
});

describe('containers', () => {
  const id = 'ab12'.repeat(16);
  it.each([
    `0::/system.slice/docker-${id}.scope`,
    `0::/docker/${id}`,
    `12:memory:/kubepods/burstable/pod0b1f2ad8-54a9-4d6f-9c0a-0d4b5b8f7a11/${id}`,
    `0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podx.slice/cri-containerd-${id}.scope`,
    `0::/system.slice/containerd.service/kubepods-podx.slice:cri-containerd:${id}`,
    `0::/machine.slice/libpod-${id}.scope/container`,
    `0::/kubepods.slice/crio-${id}.scope`,
    `0::/docker/${'0'.repeat(64)}/docker/${id}/init`,
  ])('always find the innermost in %s', (text) => {
    expect(containerOfCgroup(text)).toBe(id);
  });

  it('never find one where none is', () => {
    expect(containerOfCgroup('0::/user.slice/user-0.slice/session-1.scope')).toBe(undefined);
    expect(containerOfCgroup(`0::/x${id}0`)).toBe(undefined);
  });

  it('always compare the beginning alone', () => {
    expect(containerKey(`containerd://${id}`)).toBe(containerKey(id.slice(0, 31)));
    expect(containerKey('short')).toBe(undefined);
  });
});
