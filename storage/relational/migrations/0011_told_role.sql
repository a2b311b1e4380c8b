-- What a node told last of its role, empty for none. A role that a node changes is taken over; one that an operator gave in
-- the meantime stands until then. Null: the node has told nothing since this column is here, so nothing is a change yet.
ALTER TABLE sensors ADD COLUMN told_role text
;
