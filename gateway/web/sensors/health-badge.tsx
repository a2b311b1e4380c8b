// The badge of a sensor's health. It opens a panel that says why, since when, what happens next.
import { Popover } from '@mantine/core';
import { useState } from 'react';
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';
import type { TrustRegionState } from '../../../machines/trust/health.rules.ts';
import type { TrustHealth } from '../../../machines/wire/heartbeat.ts';
import { useApi } from '../api/client.ts';
import { Shape, type Tone } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { DESIGN_TEXTS, HEALTH_WORDS } from '../design/texts.ts';
import { Ago, useNow } from '../design/time.tsx';
import { type Reason, whyOf } from './health-why.ts';
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
  const nowMs = useNow();
  return (
    <Answered of={actor} rows={3}>
      {({ context, value }) => {
        const { trust } = value as { trust: TrustRegionState };
        const { health, reasons } = whyOf(context as SensorContext, trust, nowMs);
        return (
          <div className="fs-why">
            <span className="fs-mark">
              <Shape tone={healthTone(health)} />
              <strong>{HEALTH_WORDS[health]}</strong>
            </span>
            {reasons.length === 0 && <p className="fs-quiet">{DESIGN_TEXTS.noReasons}</p>}
            {reasons.map((reason) => (
              <ReasonTold key={reason.code} reason={reason} />
            ))}
          </div>
        );
      }}
    </Answered>
  );
}

function ReasonTold({ reason }: { readonly reason: Reason }) {
  const { title, next } = REASON_TEXTS[reason.code];
  return (
    <div className="fs-why-reason">
      <p>
        {title}
        {reason.sinceMs !== null && (
          <>
            , {DESIGN_TEXTS.since.toLowerCase()} <Ago at={reason.sinceMs} />
          </>
        )}
      </p>
      {reason.facts.length > 0 && (
        <p className="fs-meta">
          {reason.facts.map(([name, atMs, text], index) => (
            <span key={name}>
              {index > 0 && '; '}
              {name} {atMs === null ? text : <Ago at={atMs} />}
            </span>
          ))}
        </p>
      )}
      <p className="fs-quiet">{next}</p>
    </div>
  );
}
