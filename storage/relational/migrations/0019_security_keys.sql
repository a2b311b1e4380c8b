-- Security keys (WebAuthn) of people, beside the app; they are public halves, found by the name the key gives itself.
CREATE TABLE security_keys (
  key_id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
  credential_id text COLLATE "C" NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL CHECK (counter >= 0),
  name text NOT NULL,
  transports text NOT NULL,
  made_at_ms bigint NOT NULL,
  used_at_ms bigint
);
CREATE INDEX security_keys_by_user ON security_keys (user_id);

-- What a session is to answer with a key; at most one for each purpose.
CREATE TABLE security_key_challenges (
  session_hash bytea NOT NULL REFERENCES sessions (hash) ON DELETE CASCADE,
  purpose text NOT NULL CHECK (purpose IN ('add', 'use')),
  challenge text NOT NULL,
  expires_at_ms bigint NOT NULL,
  PRIMARY KEY (session_hash, purpose)
);
