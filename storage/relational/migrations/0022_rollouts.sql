-- Rollouts: what led a version to its sensors step by step. The row of a rollout is a document of policies; each of its
-- transitions is written with the commit that made it.
CREATE TABLE rollout_transitions (
  rollout_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL CHECK (sequence >= 1),
  at_ms bigint NOT NULL,
  event text NOT NULL,
  from_state text,
  to_state text NOT NULL,
  actor text NOT NULL,
  tally json,
  context json NOT NULL,
  PRIMARY KEY (rollout_id, sequence)
);

-- What happened stays what happened, whoever asks the database.
CREATE FUNCTION keep_transitions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transition % of rollout % never changes', OLD.sequence, OLD.rollout_id;
END $$;
CREATE TRIGGER keep_transitions BEFORE UPDATE OR DELETE ON rollout_transitions
  FOR EACH ROW EXECUTE FUNCTION keep_transitions();
