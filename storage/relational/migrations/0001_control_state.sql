-- Control state: identities, tokens, keys, inventory, audit. Never a runtime event. invariant: I15
-- Instants are milliseconds since the epoch; free-form objects are `json`, which unlike `jsonb` takes every JSON text.

CREATE TABLE sensors (
  sensor_id text COLLATE "C" PRIMARY KEY,
  node_name text COLLATE "C" NOT NULL,
  flavor text NOT NULL,
  declared_role text,
  labels json NOT NULL,
  system json NOT NULL,
  boot_id text NOT NULL,
  sensor_version text NOT NULL,
  flavor_mismatch boolean NOT NULL,
  enrolled_at_ms bigint NOT NULL,
  revoked_at_ms bigint,
  revoked_reason text,
  last_heartbeat_at_ms bigint,
  facts json,
  CHECK ((revoked_at_ms IS NULL) = (revoked_reason IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX sensors_by_node_name ON sensors (node_name, sensor_id);

CREATE TABLE sensor_certificates (
  fingerprint text COLLATE "C" PRIMARY KEY,
  sensor_id text COLLATE "C" NOT NULL REFERENCES sensors (sensor_id),
  status text NOT NULL CHECK (status IN ('pending', 'current', 'previous', 'ended')),
  reference text NOT NULL,
  serial text NOT NULL UNIQUE,
  key_digest text NOT NULL,
  pem text NOT NULL,
  not_before_ms bigint NOT NULL,
  not_after_ms bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  superseded_at_ms bigint
);
CREATE UNIQUE INDEX sensor_certificates_one_current
  ON sensor_certificates (sensor_id) WHERE status = 'current';
CREATE UNIQUE INDEX sensor_certificates_one_pending
  ON sensor_certificates (sensor_id) WHERE status = 'pending';
CREATE INDEX sensor_certificates_by_sensor ON sensor_certificates (sensor_id);

-- invariant: I2, I11
CREATE TABLE enrollment_tokens (
  token_id text COLLATE "C" PRIMARY KEY,
  hash bytea NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('enroll', 'reenroll')),
  sensor_id text COLLATE "C" REFERENCES sensors (sensor_id),
  note text NOT NULL,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  consumed_at_ms bigint,
  consumed_key_digest text,
  consumed_fingerprint text COLLATE "C" REFERENCES sensor_certificates (fingerprint)
    DEFERRABLE INITIALLY DEFERRED,
  revoked_at_ms bigint,
  CHECK ((kind = 'reenroll') = (sensor_id IS NOT NULL)),
  CHECK (consumed_at_ms IS NULL OR revoked_at_ms IS NULL),
  CHECK ((consumed_at_ms IS NULL) = (consumed_key_digest IS NULL)),
  CHECK ((consumed_at_ms IS NULL) = (consumed_fingerprint IS NULL))
);

CREATE TABLE api_keys (
  key_id text COLLATE "C" PRIMARY KEY,
  hash bytea NOT NULL UNIQUE,
  name text NOT NULL,
  scopes json NOT NULL,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  revoked_at_ms bigint
);

CREATE TABLE inventory_sections (
  sensor_id text COLLATE "C" NOT NULL,
  section text NOT NULL,
  hash text NOT NULL,
  items json NOT NULL,
  stored_at_ms bigint NOT NULL,
  PRIMARY KEY (sensor_id, section)
);

CREATE TABLE audit_records (
  audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms bigint NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  result text NOT NULL,
  detail json NOT NULL
);

CREATE TABLE settings (
  name text PRIMARY KEY,
  value json NOT NULL,
  changed_at_ms bigint NOT NULL
);
