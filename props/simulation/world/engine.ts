// The engine of a simulated host: processes that speak the engine's protocol, write its export, and fail when told. A
// process outlives its Sensor for a moment, as a real one does until it notices that its input ended.
import { EXPORT_LINE_MAX_BYTES } from '../../../machines/limits.ts';
import type {
  EngineLaunch,
  EngineLauncher,
  EngineRun,
} from '../../../sensor/engine/engine-launcher.ts';
import { type HostClock, WORLD_BEGINS_MS } from './clocks.ts';
import type { SimulatedDisk } from './disk.ts';
import { type BuildKind, createBuilds, type SimulatedBuild } from './engine-builds.ts';
import { createEngineExport } from './engine-export.ts';
import { createEngineFiles } from './engine-files.ts';
import { createEngineLines, type Deed, type EngineLine } from './engine-lines.ts';
import type { EngineProcess } from './engine-process.ts';
import { beginLife, type Life } from './life.ts';
import type { EngineStep } from './observation.ts';
import { createUnwatchedPrograms } from './unwatched-programs.ts';
import type { World } from './world.ts';

export type SimulatedEngine = {
  /** The launcher of one life of the Sensor. */
  launcherFor(life: Life, stateDir?: string): EngineLauncher;
  /** Every running process ends with this code. */
  crash(code: number): void;
  /** No lines and no word, until it is off again or the process is killed. */
  setHang(on: boolean): void;
  /** So many lines within a second. */
  flood(lines: number): void;
  /** Lines that are no events, too long, or written in two halves. */
  garbage(): void;
  rotate(): void;
  /** Processes that are started from now on end at once. */
  setRefusal(on: boolean): void;
  /** As a hang, and not even a kill ends a process (it waits for a device) until it is off again. */
  setUnkillable(on: boolean): void;
  /** A package manager puts another build of the engine in the place of the one the Sensor carries. */
  replaceBuild(how: BuildKind): void;
  /** Somebody removes what was unpacked. */
  removeFiles(): void;
  /** No events of its own accord; it goes on saying that it is alive. */
  setQuiet(on: boolean): void;
  /** Hang, refusal and quiet off, and the build that is carried a good one. */
  heal(): void;
  /** Tells the lines that are not on the disk any more. A power loss and a wipe do it by themselves. */
  settle(): void;
  /** Processes that run now. */
  running(): number;
  /** Connections in the lines that were made, by direction and program; not all of them need have been written. */
  connections(): ReadonlyMap<string, number>;
  /** What was done in the line of a key. */
  deedOf(key: string): Deed | undefined;
  /** For how long a program is known at most, by the times in the lines. */
  knownForMs(binary: string): number;
};

export type SimulatedEngineOptions = {
  readonly world: World;
  readonly node: string;
  readonly disk: SimulatedDisk;
  /** The host's wall clock stamps lines and names backups; true time when absent. */
  readonly clock?: Pick<HostClock, 'wallNow'>;
  /** Mean time between events when nothing special happens; this and the sizes are drawn when absent. */
  readonly meanQuietMs?: number;
  /** Programs with habits beside the usual few; none when absent. */
  readonly programs?: number;
  readonly rotateBytes?: number;
  readonly backupsMax?: number;
  readonly aliveEveryMs?: number;
};

// Rarer than the product's engine says it, for the sake of long runs; three of them still fit into the silence that
// counts as a hang.
const ALIVE_EVERY_MS = 10_000;
const BURST_CHANCE = 0.05;
const FLOOD_PARTS = 10;
const BACKUPS_MAX = 5;
const LOCK_STEP_MS = 20;
const LOCK_PATIENCE_MS = 8_000;
const STATE_DIR = '/var/lib/service-sensor';

/** The key under which the engine wrote this event, unique in the run; '' when no simulated engine wrote it. */
export function keyOfEvent(event: {
  readonly process?: { readonly exec_id?: string } | undefined;
}): string {
  return event.process?.exec_id ?? '';
}

/** Makes the engine of a host. */
export function createSimulatedEngine(options: SimulatedEngineOptions): SimulatedEngine {
  const { world, node, disk } = options;
  const { scheduler } = world;
  const wallNow = options.clock?.wallNow ?? (() => Math.round(WORLD_BEGINS_MS + scheduler.now()));
  const random = world.random.fork(`engine/${node}`);
  const lines = createEngineLines(node, random.fork('lines'), options.programs);
  const eventEveryMs = options.meanQuietMs ?? random.between(30, 120) * 1_000;
  const aliveEveryMs = options.aliveEveryMs ?? ALIVE_EVERY_MS;
  const written = createEngineExport(world, {
    node,
    disk,
    wallNow,
    rotateBytes: options.rotateBytes ?? random.between(64, 256) * 1_024,
    backupsMax: options.backupsMax ?? BACKUPS_MAX,
  });
  const unwatched = createUnwatchedPrograms(world, node, eventEveryMs);
  const processes = new Set<EngineProcess>();
  const builds = createBuilds(node);
  // What upgrades draw changes nothing for a run without any.
  const drawn = world.random.fork(`engine/${node}/upgrades`);
  const switches = { hangs: false, refuses: false, quiet: false, isUnkillable: false };
  let incarnation = 0;

  function some(count: number): EngineLine[] {
    return Array.from({ length: count }, () => lines.event(wallNow()));
  }

  function write(one: EngineProcess, batch: readonly EngineLine[]): void {
    if (one.output === null) return;
    if (one.lost > one.lostTold) {
      const count = one.lost - one.lostTold;
      const line = lines.loss(wallNow(), count);
      if (one.output.write([line]) === 0) {
        one.lostTold = one.lost;
        world.observe({ kind: 'engine.counted', node, key: line.key, count });
      }
    }
    if (batch.length === 0) return;
    const lost = one.output.write(batch);
    one.lost += lost;
    one.written += batch.length - lost;
  }

  function say(one: EngineProcess, word: object): void {
    one.launch.onLine(JSON.stringify(word));
  }

  function writeOn(one: EngineProcess): void {
    one.life.after(random.exponential(eventEveryMs), () => {
      if (!switches.hangs && !switches.quiet) {
        write(one, some(random.chance(BURST_CHANCE) ? random.between(5, 40) : 1));
      }
      writeOn(one);
    });
  }

  function sayAlive(one: EngineProcess): void {
    one.life.after(aliveEveryMs, () => {
      const { written: count, lost } = one;
      const alive = new Date(wallNow()).toISOString();
      if (!switches.hangs) say(one, { alive, written: count, lost });
      sayAlive(one);
    });
  }

  function begin(one: EngineProcess): void {
    if (switches.hangs) return;
    try {
      one.output = written.open(one.launch.exportFile);
    } catch (error) {
      one.launch.onErrorLine(`the export cannot be opened: ${String(error)}`);
      one.end('it ended with 1');
      return;
    }
    one.lost += unwatched.end();
    write(one, []);
    if (!switches.quiet) write(one, some(random.between(2, 6)));
    const hooks = random.chance(0.2) ? [{ hook: 'process_exit.status', reason: 'seen late' }] : [];
    const hello = { engine: 'procfs', mode: 'tracefs', version: '1.7.0', disabled_hooks: hooks };
    say(one, { ...hello, pid: 1_000 + one.life.incarnation });
    writeOn(one);
    sayAlive(one);
  }

  /** Ends some time after its input, unless it hangs. */
  function noticeEnd(one: EngineProcess): void {
    one.isInputEnded = true;
    one.life.after(random.between(5, 300), () => {
      if (!switches.hangs) one.end('it ended with 0');
    });
  }

  function kill(one: EngineProcess): void {
    one.isKilled = true;
    if (!switches.isUnkillable) one.end('it ended with SIGKILL');
  }

  function observe(one: EngineProcess, step: EngineStep): void {
    if (!builds.areSeveral()) return;
    const { life, sensor, own } = one;
    const [process, build] = [life.incarnation, own.build.sum];
    world.observe({
      ...{ kind: 'engine.step', node, process, build, step },
      sensor: sensor.incarnation,
    });
  }

  /** Ends of its own accord, as this build does. */
  function fail(one: EngineProcess): void {
    // Alone it is no upgrade that failed: the Sensor knows no other build.
    if (one.isNext && !one.isInputEnded && one.sensor.isAlive()) observe(one, 'failed');
    one.end('it ended with 9');
  }

  /** As soon as nobody else writes the export. */
  function whenAlone(one: EngineProcess, run: () => void, waitedMs = 0): void {
    const isAlone = [...processes].every((other) => other === one || other.output === null);
    if (isAlone && !switches.hangs) run();
    else if (waitedMs >= LOCK_PATIENCE_MS) one.end('it ended with 3');
    else {
      const next = waitedMs + (isAlone ? 0 : LOCK_STEP_MS);
      one.life.after(LOCK_STEP_MS, () => whenAlone(one, run, next));
    }
  }

  function attach(one: EngineProcess): void {
    if (switches.hangs) {
      one.resume = () => attach(one);
      return;
    }
    one.resume = () => undefined;
    observe(one, 'attached');
    say(one, { attached: 3 });
    if (one.own.how === 'dies') whenAlone(one, () => fail(one));
    if (one.own.how !== 'good') return;
    whenAlone(one, () => {
      one.isNext = false;
      observe(one, 'took over');
      begin(one);
    });
  }

  /** What a process does first. */
  function beginLater(one: EngineProcess): void {
    const { how } = one.own;
    const endsAtOnce = how === 'ends' || (how === 'dies' && !one.isNext);
    if (switches.refuses) one.life.after(random.between(0, 50), () => one.end('it ended with 1'));
    else if (endsAtOnce) one.life.after(drawn.between(0, 50), () => fail(one));
    else if (one.isNext && how !== 'mute') {
      one.resume = () => undefined;
      one.life.after(drawn.between(20, 900), () => attach(one));
    } else if (how === 'good') one.life.after(random.between(20, 900), () => begin(one));
    else one.resume = () => undefined;
  }

  function askToEnd(one: EngineProcess): void {
    if ([...processes].some(({ isNext }) => isNext)) observe(one, 'asked');
  }

  function launch(
    sensor: Life,
    asked: EngineLaunch,
    own: SimulatedBuild = builds.carried(),
    isBeside = false,
  ): EngineRun {
    incarnation += 1;
    const life = beginLife(scheduler, { host: `${node}/engine`, incarnation });
    let resolveGone: (how: string) => void = () => undefined;
    const gone = new Promise<string>((resolve) => {
      resolveGone = resolve;
    });
    const hear = (line: string): void => (sensor.isAlive() ? asked.onLine(line) : undefined);
    const hearError = (line: string): void =>
      sensor.isAlive() ? asked.onErrorLine(line) : undefined;
    const one: EngineProcess = {
      ...{ life, own, sensor, isNext: isBeside },
      resume: () => begin(one),
      launch: { ...asked, onLine: hear, onErrorLine: hearError },
      output: null,
      isInputEnded: false,
      isKilled: false,
      lost: 0,
      lostTold: 0,
      written: 0,
      end(how) {
        if (!life.isAlive()) return;
        if (one.isNext) observe(one, 'ended');
        life.end();
        processes.delete(one);
        const isLast = [...processes].every(({ output }) => output === null);
        if (one.output !== null && isLast) unwatched.begin();
        if (sensor.isAlive()) resolveGone(how);
      },
    };
    processes.add(one);
    observe(one, isBeside ? 'beside' : 'started');
    beginLater(one);
    sensor.onEnd(() => noticeEnd(one));
    return {
      gone,
      hasEnded: () => !life.isAlive(),
      memoryBytes: async () => null,
      endInput: () => {
        askToEnd(one);
        noticeEnd(one);
      },
      kill: () => {
        askToEnd(one);
        kill(one);
      },
    };
  }

  /** One process is enough to fail for what an operator or an accident does to the engine. */
  function each(run: (one: EngineProcess) => void): void {
    if (!switches.hangs) for (const one of [...processes]) run(one);
  }

  function setHang(on: boolean): void {
    switches.hangs = on;
    if (on) return;
    for (const one of [...processes]) {
      if (one.isInputEnded) noticeEnd(one);
      else if (one.output === null) one.resume();
    }
  }

  function setUnkillable(on: boolean): void {
    switches.isUnkillable = on;
    if (!on) for (const one of [...processes]) if (one.isKilled) kill(one);
    setHang(on);
  }

  function writeGarbage(one: EngineProcess): void {
    const { output } = one;
    if (output === null) return;
    const kind = random.pick(['text', 'json', 'long', 'half', 'bytes'] as const);
    if (kind === 'text') output.writeRaw('panic: runtime error\ngoroutine 1 [running]:\n');
    if (kind === 'json') output.writeRaw('{"process_exec":{"process":{}}\n{}\n{"other":1}\n');
    if (kind === 'long') output.writeRaw(`{"x":"${'x'.repeat(EXPORT_LINE_MAX_BYTES)}"}\n`);
    if (kind === 'bytes') output.writeRaw(`${random.bytes(64).toString('latin1')}\n`);
    if (kind === 'half') {
      const line = lines.event(wallNow());
      output.writeHalf(line, random.between(1, line.text.length));
      one.life.after(random.between(10, 3_000), () => write(one, some(1)));
    }
  }

  function endAll(how: string): void {
    for (const one of [...processes]) one.end(how);
  }

  disk.onLoss({
    before() {
      endAll('the power went');
      unwatched.forget();
    },
    after: written.settle,
  });

  return {
    launcherFor(life, stateDir = STATE_DIR) {
      const { choose, ...part } = builds.partFor({
        life,
        launch: (asked, own, isBeside) => launch(life, asked, own, isBeside),
        files: createEngineFiles(world, { node, disk, stateDir }),
      });
      const unpack = (): boolean => {
        choose();
        return false;
      };
      return {
        ...part,
        unpack: () => life.call('engine.unpack', unpack, disk.faults.delayMs(stateDir)),
        fallBack: () => undefined,
        isPreemptRt: () => life.call('engine.isPreemptRt', () => false),
        kind: () => 'procfs',
        passedOver: () => [],
      };
    },
    crash: (code) => endAll(`it ended with ${code}`),
    setHang,
    setUnkillable,
    replaceBuild: builds.replace,
    removeFiles: () =>
      createEngineFiles(world, { node, disk, stateDir: STATE_DIR }).remove(builds.areSeveral()),
    flood: (count) =>
      each((one) => {
        for (let part = 0; part < FLOOD_PARTS; part += 1) {
          const share = Math.ceil(count / FLOOD_PARTS);
          one.life.after((part * 1_000) / FLOOD_PARTS, () => write(one, some(share)));
        }
      }),
    garbage: () => each(writeGarbage),
    rotate: () => each((one) => one.output?.rotate()),
    setRefusal(on) {
      switches.refuses = on;
    },
    setQuiet(on) {
      switches.quiet = on;
    },
    heal() {
      switches.refuses = false;
      switches.quiet = false;
      builds.heal();
      setUnkillable(false);
    },
    ...{ settle: written.settle, running: () => processes.size },
    ...{ connections: lines.connections, deedOf: lines.deedOf, knownForMs: lines.knownForMs },
  };
}
