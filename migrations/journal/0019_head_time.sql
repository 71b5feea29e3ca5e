-- Months are closed by moving the time of the head without an event: nothing is recorded before it afterwards.
COMMENT ON COLUMN head.recorded_at IS
    'When the last event was recorded, or the moment up to which somebody has relied on the log; the next event is recorded no earlier.';
