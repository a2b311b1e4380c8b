-- The license of the deployment: one row, there from the beginning, so that every change is an update of it.
CREATE TABLE license_state (
  id integer PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL,
  envelope text,
  imported_at_ms bigint,
  imported_by text,
  seen_ms bigint NOT NULL
);

INSERT INTO license_state (id, revision, seen_ms) VALUES (1, 0, 0);
