// One process of the node, as /proc shows it while it runs: who started it, when, as whom, and where it lives.
import { readFile, readlink } from 'node:fs/promises';
import { ARGUMENTS_MAX_CHARS, BINARY_MAX_CHARS } from '../../machines/wire/event.ts';
import { containerOfCgroup } from '../pipeline/container-id.ts';
import { cutText } from '../pipeline/json-value.ts';
import type { SeenProcess } from '../pipeline/node-context.ts';

// Fields of /proc/<pid>/stat, counted behind the name, which may hold anything.
const PARENT_AT = 1;
const START_AT = 19;

/** Looks at a process; null when it has gone or may not be seen. Never rejects. */
export async function lookAtProcess(pid: number, proc = '/proc'): Promise<SeenProcess | null> {
  const text = (file: string) => readFile(`${proc}/${pid}/${file}`, 'utf8').catch(() => '');
  const link = (file: string) => readlink(`${proc}/${pid}/${file}`).catch(() => '');
  const [stat, status, cmdline, cgroup, exe, netns] = await Promise.all([
    text('stat'),
    text('status'),
    text('cmdline'),
    text('cgroup'),
    link('exe'),
    link('ns/net'),
  ]);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parentPid, startTicks] = [Number(fields[PARENT_AT]), Number(fields[START_AT])];
  if (stat === '' || !Number.isSafeInteger(parentPid) || !Number.isSafeInteger(startTicks)) {
    return null;
  }
  const words = cmdline.replace(/\0$/, '').split('\0');
  const uid = /^Uid:\t(\d+)/m.exec(status)?.[1];
  return {
    pid,
    parentPid,
    startTicks,
    uid: uid === undefined ? undefined : Number(uid),
    binary: cutText(exe === '' ? (words[0] ?? '') : exe, BINARY_MAX_CHARS),
    arguments: cutText(words.slice(1).join(' '), ARGUMENTS_MAX_CHARS),
    containerId: containerOfCgroup(cgroup),
    networkNamespace: /\d+/.exec(netns)?.[0],
  };
}
