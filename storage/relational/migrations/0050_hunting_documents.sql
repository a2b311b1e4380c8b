-- Saved searches, investigations with what they hold, exercises, and what is usual: each a document under its revision. Of
-- an event only its name is ever here.
CREATE TABLE hunting_documents (
  id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL
    CHECK (kind IN ('saved_search', 'investigation', 'investigation_item', 'exercise', 'usual_mark')),
  parent_id text COLLATE "C" REFERENCES hunting_documents (id) ON DELETE CASCADE,
  body json NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  revision integer NOT NULL
);
CREATE INDEX hunting_documents_by_kind ON hunting_documents (kind, id);
CREATE INDEX hunting_documents_by_parent ON hunting_documents (parent_id, kind, id)
  WHERE parent_id IS NOT NULL;
