// One line of an engine's export: an event that the Console accepts as it stands, or a reason. The same line gives the
// same event twice, and what a sensor makes of hostile text carries no character that moves a terminal.
import { RuntimeEvent } from '../../../machines/wire/event.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { normalise } from '../../../sensor/pipeline/normalise.ts';
import { createProcessCache } from '../../../sensor/pipeline/process-cache.ts';
import { json } from '../samples.ts';
import { checkStorable } from '../storable.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const SENSOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const EVENT_MAX_CHARS = 200_000;
const TIME = '2026-03-04T05:06:07.123456789Z';
const process = {
  exec_id: 'bm9kZToxOjE=',
  parent_exec_id: 'bm9kZTowOjE=',
  pid: 42,
  uid: 0,
  cwd: '/',
  binary: '/usr/bin/curl',
  arguments: 'x\0\0 ',
  start_time: TIME,
  pod: { namespace: 'n', name: 'p', container: { id: 'c', image: { name: 'i' } }, workload: 'w' },
  ns: { net: { inum: 4_026_531_992 } },
};
const kprobe = (name: string, ...args: readonly unknown[]) => ({
  process_kprobe: { process, parent: process, function_name: name, args, policy_name: 'p' },
  time: TIME,
});
const sock_arg = {
  saddr: '10.0.0.1',
  daddr: '::1',
  sport: 1,
  dport: '53',
  protocol: 'IPPROTO_UDP',
};
const SAMPLES = [
  { process_exec: { process, parent: process, ancestors: [process, 5, null] }, time: TIME },
  { process_exit: { process, signal: 'SIGKILL', status: 9 }, time: TIME },
  { process_exit: { process: { pid: '42' }, status: 3 }, time: '2026-03-04T05:06:07+02:00' },
  kprobe('__x64_sys_connect', { sock_arg }),
  kprobe('udp_sendmsg', { sock_arg }),
  kprobe('inet_csk_accept', { sock_arg }),
  kprobe('inet_csk_listen_start', { sock_arg: { ...sock_arg, sport: 70_000 } }),
  kprobe('security_file_permission', { file_arg: { path: '/etc/passwd' } }, { int_arg: 2 }),
  kprobe('security_path_unlink', { path_arg: { path: '/tmp/x' } }),
  kprobe('commit_creds'),
  { process_kprobe: { process, function_name: 'x', action: 'KPROBE_ACTION_SIGKILL' }, time: TIME },
  { process_tracepoint: { process, subsys: 'syscalls', event: 'sys_enter_kill' }, time: TIME },
  { process_uprobe: { process, symbol: 'main', path: '/bin/x' }, time: TIME },
  { process_usdt: { process, provider: 'p', name: 'n' }, time: TIME },
  { process_lsm: { process, function_name: 'bprm_check', args: [] }, time: TIME },
  { process_loader: { process, path: '/lib/x.so' }, time: TIME },
  { process_throttle: { cgroup: '/c', type: 'THROTTLE_START' }, time: TIME },
  { rate_limit_info: { number_of_dropped_process_events: '7' }, time: TIME },
  { process_exec: { process: { binary: 'no pid' } }, time: 'yesterday' },
  { process_exec: { process: { pid: 1, binary: '\u001b[31m\u202e\ud800' } }, time: TIME },
  { unknown: {} },
];
const fits = parserOfValue(RuntimeEvent);

const target: FuzzTarget = {
  name: 'normalise',
  modules: [
    'sensor/pipeline/normalise.ts',
    'sensor/pipeline/event-kind.ts',
    'sensor/pipeline/event-message.ts',
    'sensor/pipeline/event-parts.ts',
    'sensor/pipeline/json-value.ts',
    'sensor/pipeline/process-cache.ts',
  ],
  form: 'json',
  dictionary: [
    'KPROBE_ACTION_OVERRIDE',
    'KPROBE_ACTION_SIGNAL',
    'return',
    'sockaddr_arg',
    'skb_arg',
  ],
  seeds: () => SAMPLES.map(json),
  run(bytes, note) {
    const line = bytes.toString();
    const context = () => ({ sensorId: SENSOR_ID, cache: createProcessCache(8) });
    const made = normalise(line, context());
    demandSame(normalise(line, context()), made, 'the same line gives another event');
    if (!made.ok) return note(made.refused);
    const { event } = made;
    const judged = fits(event);
    demand(judged.ok, `the Console would refuse an event: ${JSON.stringify(judged).slice(0, 200)}`);
    const text = JSON.stringify(event);
    demand(text.length <= EVENT_MAX_CHARS, 'an event is too large');
    demand(
      !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(event.message),
      'a message moves a terminal',
    );
    demandSame(fits(JSON.parse(text)), judged, 'an event does not survive its way');
    checkStorable([event]);
    note(`${event.event_kind} ${Object.keys(event).sort().join()}`);
  },
};
export default target;
