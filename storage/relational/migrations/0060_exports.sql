-- Where exports to Parquet go, and the days on their way there. The row of a day is the job: the Console that is designated
-- moves it under its epoch and a lease. Objects are what was written and read back.
CREATE TABLE export_target (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  target json NOT NULL,
  secret_sealed text,
  changed_at_ms bigint NOT NULL,
  revision integer NOT NULL
);
CREATE TABLE export_runs (
  day text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  state text NOT NULL
    CHECK (state IN ('waiting', 'counting', 'copying', 'sealing', 'done', 'dead')),
  due_at_ms bigint NOT NULL,
  context json NOT NULL,
  lease_epoch bigint,
  lease_until_ms bigint,
  PRIMARY KEY (day, table_name),
  CHECK ((state IN ('counting', 'copying', 'sealing')) = (lease_epoch IS NOT NULL))
);
CREATE INDEX export_runs_due ON export_runs (due_at_ms) WHERE state = 'waiting';
CREATE INDEX export_runs_active ON export_runs (lease_until_ms) WHERE lease_epoch IS NOT NULL;
CREATE TABLE export_objects (
  day text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  part integer NOT NULL,
  name text NOT NULL,
  row_count bigint NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  PRIMARY KEY (day, table_name, part),
  FOREIGN KEY (day, table_name) REFERENCES export_runs (day, table_name) ON DELETE CASCADE
);
