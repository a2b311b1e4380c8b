// How a Sensor inside a cluster asks which workload a container belongs to; null outside of one.
import { type Environment, type SensorSetting, textIn, urlOf } from '../config/setting.ts';
import type { KubernetesAccess } from './kubernetes-lists.ts';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export const kubernetes: SensorSetting<KubernetesAccess | null> = {
  keys: [
    'kubernetes_api_url',
    'kubernetes_kubelet_url',
    'kubernetes_node_name',
    'kubernetes_token_file',
    'kubernetes_ca_file',
    'kubernetes_kubelet_ca_file',
  ],
  environment: (env) => ({
    kubernetes_api_url: apiUrlOf(env),
    kubernetes_node_name: env['NODE_NAME'],
  }),
  read(given) {
    const { mistakes, nodeName } = given;
    const text = (key: string, fallback: string) => textIn(given, key, fallback);
    // The token goes to both: never in the clear to another machine.
    const url = (key: string): URL | null => {
      const read = urlOf(key, text(key, '') || null, ['https:', 'http:'], mistakes);
      const isOpen = read?.protocol === 'http:' && !LOOPBACK.test(read.hostname);
      if (isOpen) mistakes.push(`${key}: must be https`);
      return read;
    };
    const apiUrl = url('kubernetes_api_url');
    const kubeletUrl = url('kubernetes_kubelet_url');
    if (apiUrl === null) return null;
    const caFile = text('kubernetes_ca_file', `${SERVICE_ACCOUNT}/ca.crt`);
    return {
      apiUrl,
      kubeletUrl,
      tokenFile: text('kubernetes_token_file', `${SERVICE_ACCOUNT}/token`),
      caFile,
      kubeletCaFile: text('kubernetes_kubelet_ca_file', caFile),
      nodeName: text('kubernetes_node_name', nodeName),
    };
  },
};

/** Where a cluster tells its pods the API server is. */
function apiUrlOf(env: Environment): string | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || host === '') return undefined;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
