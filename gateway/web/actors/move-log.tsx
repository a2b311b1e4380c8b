// What moved an actor, newest first. Choosing one shows the actor as it was after it, and the facts of its event.
import { Json } from '../design/json.tsx';
import { Panel } from '../design/page.tsx';
import { At } from '../design/time.tsx';
import { eventWord } from './state-tree.ts';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';
import { keyOf, type Move } from './time-travel.ts';

export function MoveLog({
  moves,
  chosen,
  onChoose,
}: {
  readonly moves: readonly Move[];
  readonly chosen: Move | null;
  readonly onChoose: (move: Move) => void;
}) {
  return (
    <Panel title={TEXTS.log}>
      {moves.length === 0 && <p className="fs-quiet">{TEXTS.noMoves}</p>}
      <ol className="fs-log">
        {moves.map((move) => (
          <li key={keyOf(move)}>
            <button type="button" aria-current={move === chosen} onClick={() => onChoose(move)}>
              <At at={move.at} />
              <span className="fs-quiet">{move.region}</span>
              <span className="fs-break">
                {move.region === '' ? (
                  TEXTS.factsOnly
                ) : (
                  <>
                    {move.from} → <strong>{move.to}</strong>
                  </>
                )}{' '}
                <span className="fs-quiet">{eventWord(move.event)}</span>
              </span>
            </button>
          </li>
        ))}
      </ol>
      {chosen !== null && (
        <>
          <h2>{TEXTS.facts}</h2>
          <Json value={chosen.facts} />
        </>
      )}
    </Panel>
  );
}
