// The badge of a sensor's health. It opens a panel that says why, since when, what happens next.
import { Popover } from '@mantine/core';
import { useState } from 'react';
import type { TrustHealth } from '../../../machines/wire/heartbeat.ts';
import type { Because } from '../../operator-plane/fleet/health-reasons.ts';
import { useApi } from '../api/client.ts';
import { Shape, type Tone } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { DESIGN_TEXTS, HEALTH_WORDS } from '../design/texts.ts';
import { Ago } from '../design/time.tsx';
import { REASON_TEXTS } from './texts.ts';

const TONES: Readonly<Record<TrustHealth, Tone>> = {
  healthy: 'good',
  renewal_recommended: 'soon',
  renewal_due: 'warn',
  degraded: 'warn',
  revoked: 'gone',
};

export function healthTone(health: TrustHealth | null): Tone {
  return health === null ? 'stale' : TONES[health];
}

export function HealthBadge({
  sensorId,
  health,
}: {
  readonly sensorId: string;
  readonly health: TrustHealth | null;
}) {
  const [isOpen, setOpen] = useState(false);
  const word = health === null ? DESIGN_TEXTS.unknown : HEALTH_WORDS[health];
  return (
    <Popover opened={isOpen} onChange={setOpen} width={340} position="bottom-start" trapFocus>
      <Popover.Target>
        <button
          type="button"
          className="fs-mark-button"
          aria-label={DESIGN_TEXTS.why(word)}
          onClick={() => setOpen(!isOpen)}
        >
          <span className="fs-mark">
            <Shape tone={healthTone(health)} />
            <span className="fs-mark-word">{word}</span>
          </span>
        </button>
      </Popover.Target>
      <Popover.Dropdown>{isOpen && <WhyPanel sensorId={sensorId} />}</Popover.Dropdown>
    </Popover>
  );
}

/** Since when and why, with facts. */
export function WhyPanel({ sensorId }: { readonly sensorId: string }) {
  const actor = useApi('GET /sensors/:id/actor', { params: { id: sensorId } });
  return (
    <Answered of={actor} rows={3}>
      {({ trust_health, because }) => (
        <HealthWhy health={trust_health as TrustHealth | null} because={because} />
      )}
    </Answered>
  );
}

/** A health with its reasons; brief is without what would follow. */
export function HealthWhy({
  health,
  because,
  isBrief = false,
}: {
  readonly health: TrustHealth | null;
  readonly because: readonly Because[];
  readonly isBrief?: boolean;
}) {
  return (
    <div className={isBrief ? 'fs-why fs-brief' : 'fs-why'}>
      <span className="fs-mark">
        <Shape tone={healthTone(health)} />
        <strong>{health === null ? DESIGN_TEXTS.unknown : HEALTH_WORDS[health]}</strong>
      </span>
      {because.length === 0 && !isBrief && <p className="fs-quiet">{DESIGN_TEXTS.noReasons}</p>}
      {because.map((reason) => (
        <ReasonTold key={reason.code} reason={reason} isBrief={isBrief} />
      ))}
    </div>
  );
}

function ReasonTold({
  reason: { code, since, facts },
  isBrief,
}: {
  readonly reason: Because;
  readonly isBrief: boolean;
}) {
  const { title, next } = REASON_TEXTS[code];
  const told = Object.entries(facts);
  return (
    <div className="fs-why-reason">
      <p>
        {title}
        {since !== null && (
          <>
            , {DESIGN_TEXTS.since.toLowerCase()} <Ago at={since} />
          </>
        )}
      </p>
      {told.length > 0 && (
        <p className="fs-meta">
          {told.map(([name, value], index) => (
            <span key={name}>
              {index > 0 && '; '}
              <Fact name={name} value={value} />
            </span>
          ))}
        </p>
      )}
      {!isBrief && <p className="fs-quiet">{next}</p>}
    </div>
  );
}

/** Names that end in `_at` hold times. */
function Fact({ name, value }: { readonly name: string; readonly value: unknown }) {
  const words = name.replace(/_(at|seconds)$/, '').replaceAll('_', ' ');
  const isTime = name.endsWith('_at') && (value === null || typeof value === 'string');
  if (isTime) {
    return (
      <>
        {words} <Ago at={value} />
      </>
    );
  }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return <>{`${words} ${text}${name.endsWith('_seconds') ? ' s' : ''}`}</>;
}
