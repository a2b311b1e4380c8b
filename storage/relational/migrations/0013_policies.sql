-- Policies: documents of a few kinds under one revision, which every commit moves. A body is what is too large to be held
-- by every Console: a draft, a signed pack. Text is kept byte for byte, because signatures are over it.
CREATE TABLE policy_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision bigint NOT NULL
);
INSERT INTO policy_state (revision) VALUES (0);

CREATE TABLE policy_documents (
  kind text NOT NULL,
  id text NOT NULL,
  head json NOT NULL,
  body json,
  changed_at_ms bigint NOT NULL,
  PRIMARY KEY (kind, id)
);

-- What was published never changes, whoever asks the database.
CREATE FUNCTION keep_published() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the % % is published and never changes', OLD.kind, OLD.id;
END $$;
CREATE TRIGGER keep_published BEFORE UPDATE OR DELETE ON policy_documents
  FOR EACH ROW WHEN (OLD.kind IN ('version', 'key_base', 'rotation'))
  EXECUTE FUNCTION keep_published();
