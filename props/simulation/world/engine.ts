// The engine of a simulated host: processes that speak the engine's protocol, write its export, and fail when told. A
// process outlives its Sensor for a moment, as a real one does until it notices that its input ended.
import type { EngineLaunch, EngineRun } from '../../../sensor/engine/engine-launcher.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import { createBuilds, type SimulatedBuild } from './engine-builds.ts';
import { createEngineExport } from './engine-export.ts';
import { createEngineFiles } from './engine-files.ts';
import { writeGarbage } from './engine-garbage.ts';
import { createEngineLines, type EngineLine } from './engine-lines.ts';
import { createProcessPolicies, triedLines } from './engine-policies.ts';
import type { EngineProcess } from './engine-process.ts';
import { beginLife, type Life } from './life.ts';
import type { EngineStep } from './observation.ts';
import type { SimulatedEngine, SimulatedEngineOptions } from './simulated-engine.ts';
import { createUnwatchedPrograms } from './unwatched-programs.ts';

export type { SimulatedEngine } from './simulated-engine.ts';

// Rarer than the product's engine says it, for the sake of long runs; three of them still fit into the silence that
// counts as a hang.
const ALIVE_EVERY_MS = 10_000;
const BURST_CHANCE = 0.05;
const FLOOD_PARTS = 10;
const BACKUPS_MAX = 5;
const LOCK_STEP_MS = 20;
const LOCK_PATIENCE_MS = 8_000;
const STATE_DIR = '/var/lib/service-sensor';
const POLICY_READ_MS = 20;
const POLICY_TRY_MS = 300;

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
      if (!switches.hangs) {
        // What a full disk refused is told again, also where nothing else happens.
        write(one, []);
        say(one, { alive, written: count, lost });
      }
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
    const engine = options.carriesPolicies === true ? 'ebpf' : 'procfs';
    const hello = { engine, mode: 'tracefs', version: '1.7.0', disabled_hooks: hooks };
    say(one, { ...hello, pid: 1_000 + one.life.incarnation });
    one.policies?.read();
    writeOn(one);
    sayAlive(one);
  }

  /** Ends some time after its input, unless it hangs. */
  function noticeEnd(one: EngineProcess): void {
    one.isInputEnded = true;
    one.life.after(random.between(5, 300), () => {
      if (switches.hangs) return;
      write(one, []);
      one.end('it ended with 0');
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
    one.policies?.read();
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
    const hear = (line: string): void => sensor.hear(() => asked.onLine(line));
    const hearError = (line: string): void => sensor.hear(() => asked.onErrorLine(line));
    const one: EngineProcess = {
      ...{ life, own, sensor, isNext: isBeside },
      resume: () => begin(one),
      launch: { ...asked, onLine: hear, onErrorLine: hearError },
      policies: null,
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
        unwatched.owe(one.lost - one.lostTold);
        sensor.hear(() => resolveGone(how));
      },
    };
    const { policyFile: file } = asked;
    if (options.carriesPolicies === true && file !== undefined) {
      const reader = { process: life.incarnation, file, isHanging: () => switches.hangs };
      one.policies = createProcessPolicies(
        { world, node, disk },
        { ...reader, say: (word) => say(one, word) },
      );
    }
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
      ...(one.policies === null ? {} : policiesOf(one)),
    };
  }

  function policiesOf(one: EngineProcess): Pick<EngineRun, 'readPolicies' | 'tryPolicies'> {
    return {
      readPolicies: () => void one.life.after(POLICY_READ_MS, () => one.policies?.read()),
      tryPolicies: (text) =>
        one.sensor.call(
          'engine.try',
          () => {
            if (switches.hangs || switches.refuses) throw new Error('they cannot be tried now');
            return triedLines(node, text);
          },
          POLICY_TRY_MS,
        ),
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
      one.policies?.read();
      if (one.isInputEnded) noticeEnd(one);
      else if (one.output === null) one.resume();
    }
  }

  function setUnkillable(on: boolean): void {
    switches.isUnkillable = on;
    if (!on) for (const one of [...processes]) if (one.isKilled) kill(one);
    setHang(on);
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
    garbage: () =>
      each((one) => writeGarbage({ random, lines, wallNow }, one, () => write(one, some(1)))),
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
    inForce() {
      const one = [...processes].find(({ output }) => output !== null);
      return one === undefined ? null : (one.policies?.inForce() ?? []);
    },
    ...{ connections: lines.connections, deedOf: lines.deedOf, knownForMs: lines.knownForMs },
  };
}
