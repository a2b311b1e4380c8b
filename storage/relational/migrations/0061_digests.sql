-- Daily digests as admins set them up, and one row for each local day of each. The row is written with the claim, before
-- anything leaves, so a day is told once at most; the Console that is designated moves it under its epoch and a lease.
CREATE TABLE digests (
  digest_id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL UNIQUE,
  plan json NOT NULL,
  secret_sealed text,
  since_ms bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  revision integer NOT NULL
);
CREATE TABLE digest_runs (
  digest_id text COLLATE "C" NOT NULL REFERENCES digests (digest_id) ON DELETE CASCADE,
  day text COLLATE "C" NOT NULL,
  state text NOT NULL
    CHECK (state IN ('sending', 'waiting', 'sent', 'failed', 'unsure', 'missed')),
  due_at_ms bigint NOT NULL,
  context json NOT NULL,
  lease_epoch bigint,
  lease_until_ms bigint,
  PRIMARY KEY (digest_id, day),
  CHECK ((state = 'sending') = (lease_epoch IS NOT NULL))
);
CREATE INDEX digest_runs_due ON digest_runs (due_at_ms) WHERE state = 'waiting';
CREATE INDEX digest_runs_active ON digest_runs (lease_until_ms) WHERE lease_epoch IS NOT NULL;
