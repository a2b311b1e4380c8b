// Severity: grey, blue, yellow, orange, red, each with a bar of its own length and always with the word.
import type { Severity } from '../../../machines/wire/event.ts';
import { SEVERITIES } from '../../../machines/wire/words.ts';

/** The severity of an event. */
export function SeverityMark({ severity }: { readonly severity: Severity }) {
  const level = SEVERITIES.indexOf(severity) + 1;
  return (
    <span className="fs-mark">
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        {SEVERITIES.map((name, index) => (
          <rect
            key={name}
            x={index * 2.4}
            y={10 - (index + 1) * 1.8}
            width="1.8"
            height={(index + 1) * 1.8 + 1}
            fill={index < level ? `var(--fs-${severity})` : 'var(--fs-line)'}
          />
        ))}
      </svg>
      <span>{severity}</span>
    </span>
  );
}
