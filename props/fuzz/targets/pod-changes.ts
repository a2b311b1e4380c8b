// Lines of a watch, whatever they say: what is kept of the pods is bounded and fits, a line that is refused changes nothing,
// and the version to go on from is one that the server told, or the one of the list.
import { WORKLOADS_MAX } from '../../../machines/pipeline-limits.ts';
import { createPodBook } from '../../../sensor/pipeline/pod-book.ts';
import { demandSection } from '../inventory-oracle.ts';
import { demand, type FuzzTarget } from '../target.ts';

const pod = (name: string, resourceVersion: string, owner?: object) => ({
  metadata: {
    ...{ namespace: 'shop', name, uid: `u-${name}`, resourceVersion },
    ...(owner === undefined ? {} : { ownerReferences: [{ controller: true, ...owner }] }),
  },
  spec: { containers: [{ image: 'r.test/a:1' }] },
  status: { containerStatuses: [{ containerID: `containerd://${'a'.repeat(64)}` }] },
});
const line = (type: string, object: unknown): string => JSON.stringify({ type, object });
const expired = { kind: 'Status', code: 410, reason: 'Expired' };

const target: FuzzTarget = {
  name: 'pod-changes',
  modules: ['sensor/pipeline/pod-book.ts', 'sensor/pipeline/pod-index.ts'],
  form: 'lines',
  dictionary: ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', '410', 'resourceVersion', '\n'],
  seeds: () =>
    [
      [
        line('ADDED', pod('b', '11')),
        line('MODIFIED', pod('b', '12')),
        line('DELETED', pod('b', '13')),
      ],
      [
        line('ADDED', pod('c', '11', { kind: 'ReplicaSet', name: 'odd' })),
        line('BOOKMARK', pod('', '19')),
      ],
      [line('DELETED', pod('a', '11')), line('ADDED', { metadata: 7 }), line('NEWS', {}), 'torn {'],
      [
        line('BOOKMARK', { metadata: { resourceVersion: 'x'.repeat(500) } }),
        line('ERROR', expired),
      ],
      [line('MODIFIED', pod('\ud800'.repeat(300), '\n')), line('ERROR', {}), '[]', '7', ''],
    ].map((lines) => Buffer.from(lines.join('\n'))),
  run(bytes, note) {
    const book = createPodBook({ pods: [pod('a', '5')], above: new Map(), version: '10' });
    const seen: string[] = [];
    for (const text of bytes.toString('utf8').split('\n').slice(0, 100)) {
      const before = { version: book.version(), told: JSON.stringify(book.workloads().pods) };
      const applied = book.apply(text);
      seen.push(applied);
      const after = { version: book.version(), told: JSON.stringify(book.workloads().pods) };
      if (applied === 'refused' || applied === 'expired') {
        demand(before.version === after.version, 'a refused line moved the version');
      }
      if (applied !== 'changed')
        demand(before.told === after.told, 'pods changed without a change');
      demand(/^[\x21-\x7e]{1,128}$/.test(after.version), 'the version is none');
    }
    const { containers, pods } = book.workloads();
    const kept = demandSection('kubernetes', pods, WORKLOADS_MAX);
    demand(containers.size <= WORKLOADS_MAX, 'there are too many containers');
    book.wantsOwners();
    note(
      `${[...new Set(seen)].sort().join(' ')}, ${Math.min(kept.length, 3)} pods, ${Math.min(containers.size, 3)}`,
    );
  },
};
export default target;
