// The native library keeps every handler, and all that it can reach, for as long as the process lives, also when its app was
// closed. So it is given doors that lead to them, and a listener that ends shuts these.
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js';

type Handler = (res: HttpResponse, req: HttpRequest) => void | Promise<void>;
type Door = { leadsTo: ((...given: never[]) => unknown) | null };

/** What routes are put on. */
export type Routed = {
  any(pattern: string, handler: Handler): void;
  ws<T>(pattern: string, behavior: WebSocketBehavior<T>): void;
};

/** An app whose handlers are let go by `letGo`, after which a request that still comes is ended. */
export function routedWithDoors(app: TemplatedApp): {
  readonly routed: Routed;
  letGo(): void;
} {
  const doors: Door[] = [];
  const open = (leadsTo: Door['leadsTo']): Door => {
    const door = { leadsTo };
    doors.push(door);
    return door;
  };
  return {
    routed: {
      any(pattern, handler) {
        const door = open(handler);
        app.any(pattern, (res, req) =>
          door.leadsTo === null ? void res.close() : (door.leadsTo as Handler)(res, req),
        );
      },
      ws<T>(pattern: string, behavior: WebSocketBehavior<T>) {
        const fields = Object.entries(behavior).map(([name, value]) => {
          if (typeof value !== 'function') return [name, value];
          const door = open(value);
          return [name, (...given: never[]) => door.leadsTo?.(...given)];
        });
        app.ws<T>(pattern, Object.fromEntries(fields));
      },
    },
    letGo() {
      for (const door of doors) door.leadsTo = null;
    },
  };
}
