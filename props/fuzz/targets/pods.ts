// What an API server or a kubelet lists: whatever it says of its pods, what the inventory tells of them fits and is bounded,
// and so is what events say of their containers.
import { KUBERNETES_OWNER_LISTS_MAX, WORKLOADS_MAX } from '../../../machines/pipeline-limits.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import { isObject, listAt } from '../../../sensor/pipeline/json-value.ts';
import { indexPods, openOwnerLists, ownersOf } from '../../../sensor/pipeline/pod-index.ts';
import { podItems } from '../../../sensor/pipeline/pod-items.ts';
import { demandSection } from '../inventory-oracle.ts';
import { demand, type FuzzTarget } from '../target.ts';

const owner = (kind: string, name: string) => [{ controller: true, kind, name }];
const metadata = {
  ...{ namespace: 'shop', name: 'basket-6c9f-x', labels: { 'pod-template-hash': '6c9f' } },
  ...{ uid: 'u', ownerReferences: owner('ReplicaSet', 'basket-6c9f') },
};
const status = {
  phase: 'Running',
  containerStatuses: [{ containerID: `containerd://${'a'.repeat(64)}`, image: 'r.test/a:1' }],
};
const containers = [{ image: 'r.test/a:1', securityContext: { privileged: true } }];

const target: FuzzTarget = {
  name: 'pods',
  modules: ['sensor/pipeline/pod-items.ts', 'sensor/pipeline/pod-index.ts'],
  form: 'json',
  dictionary: ['ReplicaSet', 'Job', 'report-29180040', 'ownerReferences', 'hostNetwork', 'hostPID'],
  seeds: () =>
    [
      { items: [{ metadata, status, spec: { containers, hostNetwork: true, hostPID: true } }] },
      { items: [{ metadata: { name: 'p', ownerReferences: owner('Job', 'report-29180040') } }] },
      { items: [{ metadata: { name: 'p', ownerReferences: owner('Job', 'odd') }, spec: 5 }, null] },
      {
        items: [{ metadata: { name: '\ud800'.repeat(400) }, spec: { containers: [{ image: 7 }] } }],
      },
      { items: [{ metadata: 5, status: { containerStatuses: [null, { containerID: 'torn' }] } }] },
      { items: {} },
    ].map((one) => Buffer.from(JSON.stringify(one))),
  run(bytes, note) {
    const parsed = parseJson(bytes.toString('utf8'));
    const pods = parsed.ok && isObject(parsed.value) ? listAt(parsed.value, 'items') : [];
    const lists = openOwnerLists(pods);
    demand(lists.length <= KUBERNETES_OWNER_LISTS_MAX, 'too many lists are asked for');
    for (const path of lists) {
      demand(
        /^\/apis\/\w+\/v1\/namespaces\/[^/?#]*\/\w+$/.test(path),
        `a path of its own: ${path}`,
      );
    }
    const above = ownersOf(pods);
    const kept = demandSection('kubernetes', podItems(pods, above), WORKLOADS_MAX);
    const index = indexPods(pods, above);
    demand(index.size <= WORKLOADS_MAX, 'there are too many containers');
    for (const key of index.keys()) demand(/^[0-9a-f]{15}$/.test(key), 'a container has no id');
    note(
      `${Math.min(kept.length, 3)} pods, ${Math.min(index.size, 3)} containers, ${lists.length}`,
    );
  },
};
export default target;
