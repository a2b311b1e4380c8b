-- The audit log as a chain: who asked from where, what changed, and the place and hash that one sealer gives each row.
-- Appending touches neither column, so writers never wait for each other. decision: D35; invariant: I17

ALTER TABLE audit_records
  ADD COLUMN from_address text,
  ADD COLUMN before json,
  ADD COLUMN after json,
  ADD COLUMN sequence bigint CHECK (sequence > 0),
  ADD COLUMN hash text,
  ADD CHECK ((sequence IS NULL) = (hash IS NULL));
CREATE UNIQUE INDEX audit_records_chain ON audit_records (sequence);
CREATE INDEX audit_records_unsealed ON audit_records (audit_id) WHERE sequence IS NULL;
CREATE INDEX audit_records_by_time ON audit_records (at_ms, audit_id);
CREATE INDEX audit_records_by_target ON audit_records (target, audit_id);
CREATE INDEX audit_records_by_actor ON audit_records (actor, audit_id);

CREATE TABLE audit_checkpoints (
  sequence bigint PRIMARY KEY,
  hash text NOT NULL,
  at_ms bigint NOT NULL,
  public_key_pem text NOT NULL,
  signature text NOT NULL
);
