-- Operator access: people, their sessions and second factors, identity providers, teams and groups, and who made a key.
-- Secrets are stored as SHA-256 (sessions, links, recovery codes), as argon2id (passwords) or sealed with a key that lies
-- outside the database (TOTP secrets, client secrets). invariant: I11

CREATE TABLE users (
  user_id text COLLATE "C" PRIMARY KEY,
  -- As typed at creation; found by its lower case.
  email text NOT NULL,
  email_key text COLLATE "C" NOT NULL UNIQUE,
  display_name text NOT NULL,
  role text NOT NULL
    CHECK (role IN ('viewer', 'analyst', 'sensor_owner', 'operator', 'admin')),
  status text NOT NULL CHECK (status IN ('active', 'disabled')),
  tags json NOT NULL,
  password_hash text,
  password_changed_at_ms bigint,
  created_at_ms bigint NOT NULL,
  last_login_at_ms bigint,
  -- Off: no secret. Pending: a secret that no code has confirmed. On: confirmed.
  mfa_state text NOT NULL CHECK (mfa_state IN ('off', 'pending', 'on')),
  mfa_secret_sealed text,
  mfa_last_step bigint NOT NULL,
  mfa_changed_at_ms bigint,
  revision integer NOT NULL,
  CHECK ((mfa_state = 'off') = (mfa_secret_sealed IS NULL))
);

CREATE TABLE user_recovery_codes (
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  hash bytea NOT NULL,
  used_at_ms bigint,
  PRIMARY KEY (user_id, hash)
);

-- One-time links with which a person sets a password: made by an admin.
CREATE TABLE user_links (
  hash bytea PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  used_at_ms bigint
);
CREATE INDEX user_links_by_user ON user_links (user_id);

CREATE TABLE sessions (
  hash bytea PRIMARY KEY,
  -- Names the session to people; the cookie's value is known by its hash only.
  session_id text COLLATE "C" NOT NULL UNIQUE,
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  -- Partial: the password was right and the second factor is still to come.
  stage text NOT NULL CHECK (stage IN ('partial', 'full')),
  -- `password`, `sso:<provider_id>`.
  method text NOT NULL,
  address text NOT NULL,
  user_agent text NOT NULL,
  created_at_ms bigint NOT NULL,
  last_seen_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  ended_at_ms bigint
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (expires_at_ms);

-- Failed attempts by account and by address, so that every replica counts the same.
CREATE TABLE login_failures (
  key text COLLATE "C" PRIMARY KEY,
  failures integer NOT NULL,
  first_at_ms bigint NOT NULL,
  last_at_ms bigint NOT NULL
);

CREATE TABLE sso_providers (
  provider_id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('google', 'entra', 'okta', 'keycloak', 'oidc')),
  name text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  client_secret_sealed text NOT NULL,
  options json NOT NULL,
  enabled boolean NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  revision integer NOT NULL
);

CREATE TABLE sso_identities (
  provider_id text COLLATE "C" NOT NULL REFERENCES sso_providers (provider_id) ON DELETE CASCADE,
  subject text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  linked_at_ms bigint NOT NULL,
  PRIMARY KEY (provider_id, subject)
);
CREATE INDEX sso_identities_by_user ON sso_identities (user_id);

-- A login that went to its provider and is still to come back; each is used once.
CREATE TABLE sso_flows (
  state_hash bytea PRIMARY KEY,
  provider_id text COLLATE "C" NOT NULL REFERENCES sso_providers (provider_id) ON DELETE CASCADE,
  browser_hash bytea NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  return_to text NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX sso_flows_by_end ON sso_flows (expires_at_ms);

CREATE TABLE teams (
  team_id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL UNIQUE,
  description text NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE TABLE team_members (
  team_id text COLLATE "C" NOT NULL REFERENCES teams (team_id) ON DELETE CASCADE,
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, user_id)
);
CREATE INDEX team_members_by_user ON team_members (user_id);
CREATE TABLE team_sensors (
  team_id text COLLATE "C" NOT NULL REFERENCES teams (team_id) ON DELETE CASCADE,
  sensor_id text COLLATE "C" NOT NULL REFERENCES sensors (sensor_id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, sensor_id)
);
CREATE INDEX team_sensors_by_sensor ON team_sensors (sensor_id);
-- A user's own list of sensors, beside those of its teams.
CREATE TABLE user_sensors (
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  sensor_id text COLLATE "C" NOT NULL REFERENCES sensors (sensor_id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, sensor_id)
);
CREATE INDEX user_sensors_by_sensor ON user_sensors (sensor_id);

CREATE TABLE sensor_groups (
  group_id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL UNIQUE,
  description text NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE TABLE sensor_group_members (
  group_id text COLLATE "C" NOT NULL REFERENCES sensor_groups (group_id) ON DELETE CASCADE,
  sensor_id text COLLATE "C" NOT NULL REFERENCES sensors (sensor_id) ON DELETE CASCADE,
  PRIMARY KEY (group_id, sensor_id)
);
CREATE INDEX sensor_group_members_by_sensor ON sensor_group_members (sensor_id);
CREATE TABLE sensor_tags (
  sensor_id text COLLATE "C" NOT NULL REFERENCES sensors (sensor_id) ON DELETE CASCADE,
  tag text COLLATE "C" NOT NULL,
  PRIMARY KEY (sensor_id, tag)
);
CREATE INDEX sensor_tags_by_tag ON sensor_tags (tag, sensor_id);

-- Who made a key: its user, or nobody for one that the Console made for whoever starts it.
ALTER TABLE api_keys
  ADD COLUMN user_id text COLLATE "C" REFERENCES users (user_id) ON DELETE CASCADE,
  ADD COLUMN last_used_at_ms bigint;
CREATE INDEX api_keys_by_user ON api_keys (user_id);

ALTER TABLE settings
  ADD COLUMN revision integer NOT NULL DEFAULT 1,
  ADD COLUMN changed_by text NOT NULL DEFAULT '';
