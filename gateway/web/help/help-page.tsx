// Keys, what the marks mean, and the way to the command line.
import { Kbd } from '@mantine/core';
import { SEVERITIES, TRUST_HEALTHS } from '../../../machines/wire/words.ts';
import { CodeLine } from '../design/copy.tsx';
import { Facts, PageFrame, Panel } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Mark } from '../design/shape.tsx';
import { HEALTH_WORDS } from '../design/texts.ts';
import { healthTone } from '../sensors/health-badge.tsx';
import { useNav } from '../shell/nav.ts';
import { HELP_TEXTS as TEXTS } from './texts.ts';

export function HelpPage() {
  const nav = useNav();
  return (
    <PageFrame title={TEXTS.title}>
      <div className="fs-grid">
        <Panel title={TEXTS.keys}>
          <Facts
            facts={[
              [TEXTS.search, <Kbd key="k">Ctrl K</Kbd>],
              [TEXTS.help, <Kbd key="h">?</Kbd>],
              [TEXTS.close, <Kbd key="e">Esc</Kbd>],
              ...nav.map(
                ({ label, key }) =>
                  [
                    `${TEXTS.goTo} ${label}`,
                    <span key={key}>
                      <Kbd>g</Kbd> <Kbd>{key}</Kbd>
                    </span>,
                  ] as const,
              ),
            ]}
          />
        </Panel>
        <Panel title={TEXTS.meanings}>
          <div className="fs-form">
            {TRUST_HEALTHS.map((health) => (
              <Mark key={health} tone={healthTone(health)}>
                {HEALTH_WORDS[health]}
              </Mark>
            ))}
            {SEVERITIES.map((severity) => (
              <SeverityMark key={severity} severity={severity} />
            ))}
          </div>
        </Panel>
        <Panel title={TEXTS.command}>
          <div className="fs-form">
            <p className="fs-quiet">{TEXTS.commandHint}</p>
            <CodeLine
              value={`service-console login --url ${location.origin}`}
              label={TEXTS.command}
            />
            <CodeLine value="service-console --help" label={TEXTS.command} />
          </div>
        </Panel>
      </div>
    </PageFrame>
  );
}
