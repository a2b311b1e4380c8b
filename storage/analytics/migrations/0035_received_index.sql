-- What reads on from where it stopped asks by time of receipt. Rows lie by sensor and time of observation, so a small part
-- of each sensor's rows is all that such a question reads.
ALTER TABLE runtime_events ADD INDEX IF NOT EXISTS received received_at TYPE minmax GRANULARITY 1
;
ALTER TABLE runtime_events MATERIALIZE INDEX received
;
