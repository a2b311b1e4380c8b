// What can be done with the events that are asked for: followed live, and taken away as a file of the whole filter.
import { Button } from '@mantine/core';
import { addressOf } from '../api/client.ts';
import { Download } from '../design/download.tsx';
import { Icon } from '../design/icons.tsx';
import { exact } from '../design/numbers.ts';
import type { EventQuestion } from './event-search.ts';
import type { Tail, TailMove } from './tail.ts';
import { EVENT_TEXTS as TEXTS } from './texts.ts';

export function TailButtons({
  tail,
  onMove,
  isPast,
}: {
  readonly tail: Tail;
  readonly onMove: (move: TailMove) => void;
  /** Nothing new can come into a range that ended. */
  readonly isPast: boolean;
}) {
  const isOn = tail.is !== 'off';
  return (
    <>
      <Button
        variant={isOn ? 'filled' : 'default'}
        leftSection={<Icon name={isOn ? 'close' : 'play'} size={14} />}
        aria-pressed={isOn}
        disabled={isPast && !isOn}
        {...(isPast ? { title: TEXTS.noTail } : {})}
        onClick={() => onMove({ type: 'turned' })}
      >
        {isOn ? TEXTS.stop : TEXTS.tail}
      </Button>
      {tail.is === 'following' && (
        <Button
          variant="default"
          leftSection={<Icon name="pause" size={14} />}
          onClick={() => onMove({ type: 'paused' })}
        >
          {TEXTS.pause}
        </Button>
      )}
      {tail.is === 'paused' && (
        <Button
          leftSection={<Icon name="play" size={14} />}
          onClick={() => onMove({ type: 'resumed' })}
        >
          {tail.waiting.length === 0 ? TEXTS.resume : TEXTS.fresh(exact(tail.waiting.length))}
        </Button>
      )}
      {tail.is === 'following' && (
        <span className="fs-meta">{tail.isHeard ? TEXTS.tailing : TEXTS.tailBegins}</span>
      )}
      {tail.dropped > 0 && <span className="fs-meta">{TEXTS.dropped(exact(tail.dropped))}</span>}
    </>
  );
}

export function Downloads({ question }: { readonly question: EventQuestion }) {
  const address = addressOf('GET /events', { query: question });
  return (
    <>
      <Download address={address} format="csv" label={TEXTS.csv} name="events" />
      <Download address={address} format="ndjson" label={TEXTS.ndjson} name="events" />
    </>
  );
}
