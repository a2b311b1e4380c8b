// The settings that capabilities declare, one line each, in any order: `SensorConfig` has each under the name that stands
// here, and a simulated node has what each reads where nothing is given. decision: D174
export { strictPolicies } from '../capabilities/policy/strict-policies.ts';
export { ebpf } from '../engine/ebpf-config.ts';
export { engine } from '../engine/engine-setting.ts';
export { tetragon } from '../engine/tetragon/tetragon-setting.ts';
export { images } from '../telemetry/images/image-sources.ts';
export { kubernetes } from '../telemetry/kubernetes-setting.ts';
