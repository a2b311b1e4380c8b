-- Alert rules: the version in force, those before it, and up to when what was received was judged.
CREATE TABLE alert_rules (
  rule_id text COLLATE "C" PRIMARY KEY,
  spec json NOT NULL,
  version integer NOT NULL,
  pause json,
  active_since_ms bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  changed_by text NOT NULL
);
CREATE TABLE alert_rule_versions (
  rule_id text COLLATE "C" NOT NULL REFERENCES alert_rules (rule_id) ON DELETE CASCADE,
  version integer NOT NULL,
  spec json NOT NULL,
  at_ms bigint NOT NULL,
  actor text NOT NULL,
  PRIMARY KEY (rule_id, version)
);
CREATE TABLE rule_cursors (
  name text PRIMARY KEY,
  received_ms bigint NOT NULL
);
