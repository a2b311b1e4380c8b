-- Before this day no export is planned any more: runs of such days were removed, and what they wrote stays as it is.
CREATE TABLE export_horizon (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  first_day text COLLATE "C" NOT NULL
);
INSERT INTO export_horizon (first_day) VALUES ('');
