-- When the person of a session last showed password and factor; 0 where a provider did not say. Sessions that are here
-- already began with a login.
ALTER TABLE sessions ADD COLUMN authenticated_at_ms bigint NOT NULL DEFAULT 0;
UPDATE sessions SET authenticated_at_ms = created_at_ms;
