// Where container runtimes are asked for their images; `off` keeps one from being asked.
import type { SensorSetting } from '../../config/setting.ts';
import type { ImageSources } from './images.ts';

export const images: SensorSetting<ImageSources> = {
  keys: ['docker_socket', 'containerd_socket', 'containers_storage'],
  read({ values, mistakes }) {
    const place = (key: string, fallback: string): string | null => {
      const value = values[key] ?? fallback;
      if (value === 'off' || value === false) return null;
      if (typeof value === 'string' && value.startsWith('/')) return value;
      mistakes.push(`${key}: must be an absolute path, or off`);
      return null;
    };
    return {
      docker: place('docker_socket', '/run/docker.sock'),
      containerd: place('containerd_socket', '/run/containerd/containerd.sock'),
      storage: place('containers_storage', '/var/lib/containers/storage'),
    };
  },
};
