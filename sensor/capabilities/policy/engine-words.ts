// What the engine that runs says of the policies it was given: by a file of ours, or by a way of its own. decision: D45
import { isObject } from '../../transport/answer.ts';
import type { EngineMessage } from '../engine/engine-messages.ts';

/** How the engine takes policies: from the file, by a way of its own that it tells of, not at all, or not known yet. */
export type Way = 'file' | 'own' | 'none' | 'unknown';
/** What it said last, whole. */
export type EngineWords = {
  readonly way: Way;
  /** Of the file it read last; 0 = it said nothing yet. */
  readonly revision: number;
  readonly policies: ReadonlyMap<string, EngineMessage>;
  /** What is wrong with the whole set; '' = nothing. */
  readonly reason: string;
  /** As it tells them by a way of its own. */
  readonly own: readonly EngineMessage[];
};
export type EngineListener = {
  words(): EngineWords;
  /** Another run, which said nothing yet. */
  begin(way: Way): void;
  /** Answers whether this completed what the engine had to say. */
  hear(word: EngineMessage): boolean;
};

const OWN_MAX = 1_024;
const REASON_MAX_CHARS = 512;
const NO_WORDS: EngineWords = {
  way: 'unknown',
  revision: 0,
  policies: new Map(),
  reason: '',
  own: [],
};

/** No engine runs yet. */
export function createEngineListener(): EngineListener {
  let words = NO_WORDS;
  let hearing = new Map<string, EngineMessage>();

  return {
    words: () => words,
    begin(way) {
      words = { ...NO_WORDS, way };
      hearing = new Map();
    },
    hear(word) {
      if (word['engine'] === 'procfs') {
        words = { ...words, way: 'none' };
      } else if (Array.isArray(word['policies'])) {
        words = { ...words, way: 'own', own: word['policies'].filter(isObject).slice(0, OWN_MAX) };
      } else if (typeof word['policies'] === 'number') {
        const reason = String(word['reason'] ?? '').slice(0, REASON_MAX_CHARS);
        const revision = Number(word['revision'] ?? 0);
        words = { ...words, policies: hearing, reason, revision };
        hearing = new Map();
      } else {
        if (typeof word['policy'] === 'string') hearing.set(word['policy'], word);
        return false;
      }
      return true;
    },
  };
}
