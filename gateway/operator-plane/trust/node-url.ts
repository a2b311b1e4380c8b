// Where another node reaches this Console: the base URL an operator set, else an address the machine has.

export type OwnAddress = {
  /** The interface's. */
  readonly name: string;
  readonly address: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly internal: boolean;
};
export type NodeUrl = {
  readonly url: string;
  /** False: only this machine itself reaches it. */
  readonly isForOthers: boolean;
};

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i;
const EVERYWHERE = new Set(['0.0.0.0', '::']);
/** Networks inside the machine: containers and virtual machines. */
const INSIDE = /^(docker|br-|veth|virbr|cni|flannel|cali|podman|lxc|lxd)/;

/** Chooses; total. */
export function nodeUrl(of: {
  readonly baseUrl: string;
  readonly bind: string;
  readonly port: number;
  readonly addresses: readonly OwnAddress[];
}): NodeUrl {
  const { baseUrl, bind, port } = of;
  if (!LOOPBACK.test(new URL(baseUrl).hostname)) return { url: baseUrl, isForOthers: true };
  const at = (host: string) => `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!EVERYWHERE.has(bind)) return { url: at(bind), isForOthers: !LOOPBACK.test(bind) };
  const usable = of.addresses.filter(({ internal, address }) => {
    return !internal && !address.startsWith('fe80') && !address.startsWith('169.254.');
  });
  const [best] = [...usable].sort((a, b) => costOf(a) - costOf(b));
  return best === undefined
    ? { url: at('127.0.0.1'), isForOthers: false }
    : { url: at(best.address), isForOthers: true };
}

function costOf({ name, family }: OwnAddress): number {
  return (INSIDE.test(name) ? 2 : 0) + (family === 'IPv6' ? 1 : 0);
}
