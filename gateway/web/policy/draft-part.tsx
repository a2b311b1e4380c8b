// The draft of a pack: its policies in an editor, judged as they are written, and the act that signs them as a version.
import { Alert, Button, Modal, MultiSelect, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { PolicyMode } from '../../../machines/wire/policy.ts';
import { POLICY_MODES } from '../../../machines/wire/words.ts';
import { call, useApi } from '../api/client.ts';
import type { PackDraftAnswer, PackWithVersions } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { DraftPolicies } from './draft-policies.tsx';
import { numbersIn } from './numbers-in.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/policies/packs/$id/draft');
type Draft = PackDraftAnswer['draft'];

export function DraftPart() {
  const { id } = route.useParams();
  const pack = useApi('GET /packs/:id', { params: { id } });
  const draft = useApi('GET /packs/:id/draft', { params: { id } });
  return (
    <Answered of={pack}>
      {(head) => (
        <Answered of={draft}>
          {(answer) => <Editing key={answer.revision} pack={head} answer={answer} />}
        </Answered>
      )}
    </Answered>
  );
}

function Editing({
  pack,
  answer,
}: {
  readonly pack: PackWithVersions;
  readonly answer: PackDraftAnswer;
}) {
  const may = useMay();
  const cache = useQueryClient();
  const [draft, setDraft] = useState<Draft>(answer.draft);
  const [isPublishing, setPublishing] = useState(false);
  const isChanged = draft !== answer.draft;
  const mayWrite = may('policies:write');
  const id = pack.pack_id;
  const saving = useForm(async () => {
    await call('PUT /packs/:id/draft', {
      params: { id },
      body: { revision: answer.revision, draft },
    });
    await cache.invalidateQueries();
  });
  return (
    <>
      <div className="fs-page-head">
        <h2 className="fs-break">{TEXTS.draftOf(pack.name)}</h2>
        <div className="fs-toolbar">
          {isChanged && <span className="fs-quiet">{TEXTS.unsaved}</span>}
          {mayWrite && (
            <>
              <Button
                variant="default"
                disabled={!isChanged}
                loading={saving.isBusy}
                onClick={() => saving.run()}
              >
                {TEXTS.save}
              </Button>
              <Button
                disabled={isChanged || draft.policies.length === 0}
                onClick={() => setPublishing(true)}
              >
                {TEXTS.publish}
              </Button>
            </>
          )}
        </div>
      </div>
      <Link to="/policies/packs/$id" params={{ id }}>
        {TEXTS.back}
      </Link>
      <Failure text={saving.failure} />
      <HeadForm draft={draft} onChange={setDraft} isReadOnly={!mayWrite} />
      <DraftPolicies
        policies={draft.policies}
        isReadOnly={!mayWrite}
        onChange={(policies) => setDraft({ ...draft, policies: [...policies] })}
      />
      <Modal opened={isPublishing} onClose={() => setPublishing(false)} title={TEXTS.publishTitle}>
        <Publish pack={pack} />
      </Modal>
    </>
  );
}

function HeadForm({
  draft,
  onChange,
  isReadOnly,
}: {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly isReadOnly: boolean;
}) {
  return (
    <Panel>
      <div className="fs-toolbar">
        <MultiSelect
          label={TEXTS.modesAllowed}
          data={[...POLICY_MODES]}
          value={draft.modes_allowed}
          readOnly={isReadOnly}
          onChange={(next) => {
            const modes_allowed = next as PolicyMode[];
            const [first] = modes_allowed;
            if (first === undefined) return;
            const mode = modes_allowed.includes(draft.mode) ? draft.mode : first;
            onChange({ ...draft, modes_allowed, mode });
          }}
        />
        <Select
          label={TEXTS.defaultMode}
          w={140}
          data={draft.modes_allowed}
          value={draft.mode}
          readOnly={isReadOnly}
          allowDeselect={false}
          onChange={(next) => onChange({ ...draft, mode: next as PolicyMode })}
        />
        <TextInput
          label={TEXTS.rollbackTo}
          description={TEXTS.rollbackHint}
          defaultValue={draft.rollback_to.join(', ')}
          readOnly={isReadOnly}
          onBlur={({ currentTarget }) =>
            onChange({ ...draft, rollback_to: numbersIn(currentTarget.value) })
          }
        />
      </div>
    </Panel>
  );
}

function Publish({ pack }: { readonly pack: PackWithVersions }) {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const id = pack.pack_id;
  const { isBusy, failure, run } = useForm(async () => {
    await call('POST /packs/:id/publish', { params: { id }, body: {} });
    await cache.invalidateQueries();
    await navigate({ to: '/policies/packs/$id', params: { id } });
  });
  return (
    <div className="fs-form">
      <Alert color="blue" variant="light" role="note">
        {TEXTS.publishHint((pack.latest_version ?? 0) + 1)}
      </Alert>
      <Failure text={failure} />
      <Button loading={isBusy} onClick={() => run()} data-autofocus>
        {TEXTS.publish}
      </Button>
    </div>
  );
}
