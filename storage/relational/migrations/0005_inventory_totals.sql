-- How many items a node has of which it told a part only; NULL when it told all.
ALTER TABLE inventory_sections ADD COLUMN node_total bigint;
