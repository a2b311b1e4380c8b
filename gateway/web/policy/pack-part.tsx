// One pack: its versions, and what changed between two of them, policy by policy.
import { Select } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { diffPolicies } from '../../../machines/policy/diff.rules.ts';
import { useApi } from '../api/client.ts';
import type { PackVersionView } from '../api/contract.ts';
import { LinkButton } from '../design/link-button.tsx';
import { Panel } from '../design/page.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/policies/packs/$id');

export function PackPart() {
  const { id } = route.useParams();
  const pack = useApi('GET /packs/:id', { params: { id } });
  const may = useMay();
  const edit = may('policies:write') && (
    <LinkButton to="/policies/packs/$id/draft" params={{ id }}>
      {TEXTS.editDraft}
    </LinkButton>
  );
  return (
    <Answered of={pack}>
      {({ name, versions }) => (
        <>
          <div className="fs-page-head">
            <h2 className="fs-break">
              <bdi>{name}</bdi>
            </h2>
            {edit}
          </div>
          {versions.length === 0 ? (
            <Nothing title={TEXTS.noVersions}>{TEXTS.noVersionsHint}</Nothing>
          ) : (
            <DataTable
              label={TEXTS.versions}
              columns={COLUMNS}
              rows={versions}
              rowKey={({ manifest }) => String(manifest.version)}
            />
          )}
          {versions.length > 1 && <Compared id={id} versions={versions} />}
        </>
      )}
    </Answered>
  );
}

const COLUMNS: readonly Column<PackVersionView>[] = [
  {
    ...{ id: 'version', title: TEXTS.version, width: 70, isNumber: true },
    cell: ({ manifest }) => manifest.version,
  },
  {
    ...{ id: 'policies', title: TEXTS.policies, width: 80, isNumber: true },
    cell: ({ manifest }) => manifest.policies.length,
  },
  {
    ...{ id: 'modes', title: TEXTS.modesAllowed, width: 160 },
    cell: ({ manifest }) => manifest.modes_allowed.join(', '),
  },
  {
    ...{ id: 'rollback', title: TEXTS.rollbackTo, width: 120 },
    cell: ({ manifest }) => manifest.rollback_to.join(', ') || TEXTS.none,
  },
  {
    ...{ id: 'manifest', title: TEXTS.manifest, width: 150 },
    cell: (one) => (
      <span className="fs-mono" title={one.manifest_sha256}>
        {one.manifest_sha256.slice(0, 16)}
      </span>
    ),
  },
  {
    ...{ id: 'key', title: TEXTS.key, width: 150 },
    cell: (one) => <span className="fs-mono">{one.key_id}</span>,
  },
  {
    ...{ id: 'published', title: TEXTS.published, width: 130 },
    cell: (one) => <Ago at={one.published_at} />,
  },
  {
    ...{ id: 'by', title: TEXTS.by, width: 160, grows: true },
    cell: (one) => <bdi>{one.published_by}</bdi>,
  },
];

function Compared({
  id,
  versions,
}: {
  readonly id: string;
  readonly versions: readonly PackVersionView[];
}) {
  const numbers = versions.map(({ manifest }) => String(manifest.version));
  const [newest = '', before = ''] = numbers;
  const { from = before, to = newest } = route.useSearch();
  const navigate = useNavigate();
  const go = (search: { from: string; to: string }) =>
    void navigate({ to: '/policies/packs/$id', params: { id }, search, replace: true });
  return (
    <Panel title={TEXTS.compare}>
      <div className="fs-toolbar">
        <Select
          size="xs"
          w={120}
          allowDeselect={false}
          data={numbers}
          label={TEXTS.compareFrom}
          value={from}
          onChange={(next) => go({ from: next ?? from, to })}
        />
        <Select
          size="xs"
          w={120}
          allowDeselect={false}
          data={numbers}
          label={TEXTS.compareTo}
          value={to}
          onChange={(next) => go({ from, to: next ?? to })}
        />
      </div>
      <Difference id={id} from={from} to={to} />
    </Panel>
  );
}

function Difference({
  id,
  from,
  to,
}: {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}) {
  const older = useApi('GET /packs/:id/versions/:version', { params: { id, version: from } });
  const newer = useApi('GET /packs/:id/versions/:version', { params: { id, version: to } });
  return (
    <Answered of={older}>
      {(before) => (
        <Answered of={newer}>
          {(after) => {
            const found = diffPolicies(before.policies, after.policies);
            if (found.length === 0) return <p className="fs-quiet">{TEXTS.same}</p>;
            return found.map(({ name, what, lines }) => (
              <section key={name}>
                <h3>
                  {TEXTS.what[what]} <span className="fs-mono">{name}</span>
                </h3>
                <pre className="fs-json">
                  {lines.map(({ sign, text }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name
                    <span key={at} className={LINE_CLASS[sign]}>{`${sign} ${text}\n`}</span>
                  ))}
                </pre>
              </section>
            ));
          }}
        </Answered>
      )}
    </Answered>
  );
}

const LINE_CLASS = { '+': 'fs-added', '-': 'fs-removed', ' ': '' } as const;
