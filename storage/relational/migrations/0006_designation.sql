-- Which Console was designated last. One row; its epoch rises with every tenure and fences what is written under it.
CREATE TABLE designation (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  epoch bigint NOT NULL,
  holder text NOT NULL,
  since_ms bigint NOT NULL
);
INSERT INTO designation (epoch, holder, since_ms) VALUES (0, '', 0);
