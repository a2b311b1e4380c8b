-- Whoever was given its password by a start or a setup sets its own before anything else.
ALTER TABLE users ADD COLUMN must_change_password boolean NOT NULL DEFAULT false;
