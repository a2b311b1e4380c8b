// Which tree of processes an event belongs to: everything that one login, one job or one container started. decision: D131
import type { EventProcess, StoredEvent } from '../wire/event.ts';

const FIRST_PID = 1;
/** Programs that only start what others ask for: logins, jobs, containers. What they start is a tree of its own. */
const STARTERS =
  /\/(sshd(-session)?|cron|crond|atd|login|agetty|systemd|containerd-shim[^/]*|conmon|dockerd|containerd|runc|tini|tmux|screen|xinetd|supervisord|init)$/;

/** The outermost execution below the node's first process that is more than a starter; empty without a process. */
export function treeKeyOf(event: StoredEvent): string {
  const { process, parent, ancestors = [] } = event;
  if (process === undefined) return '';
  const line: readonly EventProcess[] = [
    process,
    ...(parent === undefined ? [] : [parent]),
    ...ancestors,
  ];
  const root = line.findLast(({ pid, binary }) => pid > FIRST_PID && !STARTERS.test(binary));
  return (root ?? process).exec_id;
}
