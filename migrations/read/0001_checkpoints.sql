-- How far each read model has followed the log. A batch locks its row first, and writes the model's tables after.
CREATE TABLE checkpoints (
    model      text   COLLATE "C" NOT NULL PRIMARY KEY,
    position   bigint NOT NULL,
    generation bigint NOT NULL DEFAULT 0,
    poison     bigint,
    reason     text
) WITH (fillfactor = 10);

COMMENT ON TABLE checkpoints IS 'How far each read model has followed the log.';
COMMENT ON COLUMN checkpoints.model IS 'Name of the read model.';
COMMENT ON COLUMN checkpoints.position IS 'Position of the last event that its tables contain.';
COMMENT ON COLUMN checkpoints.generation IS 'How often its tables were replaced by a rebuild.';
COMMENT ON COLUMN checkpoints.poison IS 'Position of the event it could not take; null while it follows the log. A model that has one is parked until the server restarts or the model is rebuilt.';
COMMENT ON COLUMN checkpoints.reason IS 'Why it could not take that event.';
