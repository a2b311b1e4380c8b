// The catalogue of machines: each drawn from the definition that runs, its states explained in their own words.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import { PageFrame, Panel } from '../design/page.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { NoSuchPage } from '../shell/no-such-page.tsx';
import { type ChartFacts, StateChart } from './state-chart.tsx';
import { type StateTree, treeOfView } from './state-tree.ts';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/actors/machines/$machine');
const AT_REST: ChartFacts = {
  ...{ active: new Set<string>(), since: new Map<string, number>(), timers: new Map() },
  ...{ last: null, asOfMs: null },
};

export function MachinesPage() {
  const { machine: wanted } = route.useParams();
  const machines = useApi('GET /system/machines', {});
  return (
    <PageFrame title={TEXTS.machines}>
      <Answered of={machines}>
        {({ items }) => {
          const found = items.find(({ id }) => id === wanted);
          if (items.length === 0) return <Nothing title={TEXTS.noActors} />;
          return (
            <>
              <nav className="fs-tabs" aria-label={TEXTS.machines}>
                {items.map(({ id }) => (
                  <Link
                    key={id}
                    to="/actors/machines/$machine"
                    params={{ machine: id }}
                    className="fs-tab"
                  >
                    {id}
                  </Link>
                ))}
              </nav>
              {found === undefined ? (
                <NoSuchPage />
              ) : (
                <>
                  <StateChart
                    key={found.id}
                    tree={treeOfView(found)}
                    facts={AT_REST}
                    label={TEXTS.chart(found.id)}
                  />
                  <Panel title={TEXTS.states}>
                    <dl className="fs-facts">
                      {statesOf(found).map(({ path, description }) => (
                        <div key={path} className="fs-fact">
                          <dt className="fs-mono">{path}</dt>
                          <dd>{description ?? TEXTS.noDescription}</dd>
                        </div>
                      ))}
                    </dl>
                  </Panel>
                </>
              )}
            </>
          );
        }}
      </Answered>
    </PageFrame>
  );
}

function statesOf(tree: StateTree): readonly StateTree[] {
  return tree.states.flatMap((state) => [state, ...statesOf(state)]);
}
