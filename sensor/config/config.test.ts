import { describe, expect, it } from 'vitest';
import { NO_EBPF_CONFIG } from '../engine/ebpf-config.ts';
import { declaredDefaults, loadConfig } from './config.ts';
import * as SETTINGS from './settings.ts';

const env = { SERVICE_SENSOR_STATE_DIR: '/nonexistent' };
describe('config', () => {
  it('should report every mistake at once', async () => {
    const loaded = await loadConfig(
      { ...env, SERVICE_SENSOR_CONSOLE_URL: 'http://x', SERVICE_SENSOR_ENGINE: 'magic' },
      { node_name: '-', intervals: { NO_SUCH_MS: 1 } },
    );
    expect(loaded.ok).toBe(false);
    expect(loaded.ok ? [] : loaded.mistakes).toHaveLength(4);
  });

  it('should refuse labels that are no mapping, instead of having none', async () => {
    for (const labels of ['text', ['a'], 7]) {
      expect((await loadConfig(env, { labels })).ok).toBe(false);
    }
  });

  it('should send the token of a service account in the clear to nobody else', async () => {
    const loaded = await loadConfig(env, {
      kubernetes_api_url: 'http://10.0.0.1',
      kubernetes_kubelet_url: 'http://10.0.0.2:10255',
    });
    expect(loaded.ok ? [] : loaded.mistakes).toEqual([
      'kubernetes_api_url: must be https',
      'kubernetes_kubelet_url: must be https',
    ]);
  });

  it('should let the command line win over the environment, and freeze the result', async () => {
    const given = { ...env, SERVICE_SENSOR_CONSOLE_URL: 'https://one' };
    const loaded = await loadConfig(given, { console_url: 'https://two' });
    expect(loaded.ok && loaded.config.consoleUrl?.host).toBe('two');
    expect(loaded.ok && Object.isFrozen(loaded.config)).toBe(true);
  });

  it('should take the bundle of a Tetragon from the file, and the environment over it', async () => {
    const sha256 = 'a'.repeat(64);
    const loaded = await loadConfig(
      { ...env, SERVICE_SENSOR_TETRAGON_BUNDLE: '/opt/two.tar.gz' },
      { tetragon: { bundle: '/opt/one', sha256, metrics_address: '127.0.0.1:2112' } },
    );
    expect(loaded.ok && loaded.config.tetragon).toEqual({
      bundle: '/opt/two.tar.gz',
      sha256,
      metricsAddress: '127.0.0.1:2112',
    });
    const none = await loadConfig(env);
    expect(none.ok && none.config.tetragon.bundle).toBeNull();
  });

  it.each([
    [{ bundle: 'relative' }, 'tetragon.bundle'],
    [{ sha256: 'A'.repeat(64) }, 'tetragon.sha256'],
    [{ metrics_address: '0.0.0.0:2112' }, 'tetragon.metrics_address'],
    [{ image: 'x' }, 'tetragon.image'],
    ['text', 'tetragon'],
  ])('should refuse what cannot be a bundle: %j', async (tetragon, key) => {
    const loaded = await loadConfig(env, { tetragon });
    expect(loaded.ok ? [] : loaded.mistakes).toEqual([expect.stringContaining(`${key}: `)]);
  });

  it('should take what is asked of the ebpf engine, each path once', async () => {
    const asked = {
      watch_paths: ['/srv/keys/', '/srv/keys/'],
      watch_write_paths: ['/srv/www/'],
      exclude_cgroups: ['/sys/fs/cgroup/build.slice'],
      tell_close: true,
    };
    const loaded = await loadConfig(env, { ebpf: asked });
    expect(loaded.ok && loaded.config.ebpf).toEqual({
      watchPaths: ['/srv/keys/'],
      watchWritePaths: ['/srv/www/'],
      cgroups: [],
      excludeCgroups: ['/sys/fs/cgroup/build.slice'],
      tellClose: true,
    });
    const none = await loadConfig(env);
    expect(none.ok && none.config.ebpf).toEqual(NO_EBPF_CONFIG);
  });

  it.each([
    ['text', 'ebpf'],
    [{ watch: [] }, 'ebpf.watch'],
    [{ watch_paths: '/srv' }, 'ebpf.watch_paths'],
    [{ watch_paths: ['srv'] }, 'ebpf.watch_paths'],
    [{ watch_paths: ['/a\nb'] }, 'ebpf.watch_paths'],
    [{ watch_write_paths: [`/${'ä'.repeat(128)}`] }, 'ebpf.watch_write_paths'],
    [{ watch_paths: Array.from({ length: 65 }, (_, at) => `/${at}`) }, 'ebpf.watch_paths'],
    [{ cgroups: [7] }, 'ebpf.cgroups'],
    [{ cgroups: ['/a'], exclude_cgroups: ['/b'] }, 'ebpf.exclude_cgroups'],
    [{ tell_close: 'yes' }, 'ebpf.tell_close'],
  ])('should refuse what the ebpf engine cannot be asked: %j', async (ebpf, field) => {
    const loaded = await loadConfig(env, { ebpf });
    expect(loaded.ok ? [] : loaded.mistakes).toEqual([
      expect.stringMatching(new RegExp(`^${field}: `)),
    ]);
  });

  it('should take what capabilities declare: each key once, its default where nothing is given', async () => {
    const keys = Object.values(SETTINGS).flatMap((one) => one.keys);
    expect(keys.length).toBe(new Set(keys).size);
    const loaded = await loadConfig(env, { node_name: 'one' });
    expect(loaded.ok && loaded.config).toMatchObject(declaredDefaults('one'));
    expect(Object.keys(declaredDefaults('one'))).toEqual(Object.keys(SETTINGS));
    // A key that nothing reads would take anything. Some are read inside a cluster alone.
    const inCluster = { kubernetes_api_url: 'https://one' };
    for (const key of keys) {
      const given = await loadConfig(env, { ...inCluster, [key]: { no: 'such' } });
      expect([key, given.ok]).toEqual([key, false]);
    }
  });

  it('should read of the environment what capabilities declare, over the file', async () => {
    const loaded = await loadConfig({
      ...env,
      SERVICE_SENSOR_ENGINE: 'procfs',
      SERVICE_SENSOR_TETRAGON_SHA256: 'b'.repeat(64),
      KUBERNETES_SERVICE_HOST: '::1',
      NODE_NAME: 'of-the-cluster',
    });
    expect(loaded.ok && loaded.config).toMatchObject({
      engine: 'procfs',
      tetragon: { sha256: 'b'.repeat(64) },
      kubernetes: { apiUrl: new URL('https://[::1]:443'), nodeName: 'of-the-cluster' },
    });
  });
});
