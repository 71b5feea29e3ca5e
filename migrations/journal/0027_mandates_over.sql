-- The mandates over an account are looked for when it is closed: not by reading every mandate that was ever set up.
CREATE INDEX events_mandates_over ON events ((payload->'set_up'->>'source')) WHERE event_type = 'mandate.set_up';
