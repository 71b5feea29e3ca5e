-- Certificates of customers' devices: all that were ever issued.
CREATE TABLE device_certificates (
    certificate_id text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner          text        COLLATE "C" NOT NULL,
    device_id      text        NOT NULL,
    serial         text        COLLATE "C" NOT NULL,
    fingerprint    text        COLLATE "C" NOT NULL,
    key_origin     text        COLLATE "C" NOT NULL,
    valid_from     timestamptz NOT NULL,
    valid_to       timestamptz NOT NULL,
    revoked_at     timestamptz,
    last_position  bigint      NOT NULL
);
CREATE INDEX device_certificates_of_owner ON device_certificates (owner);
CREATE INDEX device_certificates_revoked ON device_certificates (valid_to) WHERE revoked_at IS NOT NULL;

COMMENT ON TABLE device_certificates IS 'Certificates that the bank issued to customers'' devices. The certificates themselves are in the log.';
COMMENT ON COLUMN device_certificates.certificate_id IS 'crt_ and a UUID.';
COMMENT ON COLUMN device_certificates.owner IS 'User id of whose device it was issued to.';
COMMENT ON COLUMN device_certificates.device_id IS 'The device, as its app names it.';
COMMENT ON COLUMN device_certificates.serial IS 'Serial number, hexadecimal.';
COMMENT ON COLUMN device_certificates.fingerprint IS 'SHA-256 of the certificate, hexadecimal.';
COMMENT ON COLUMN device_certificates.key_origin IS 'Who made the key: DEVICE_GENERATED or SERVER_GENERATED.';
COMMENT ON COLUMN device_certificates.valid_from IS 'From when on it is good.';
COMMENT ON COLUMN device_certificates.valid_to IS 'Until when it is good, unless it is revoked.';
COMMENT ON COLUMN device_certificates.revoked_at IS 'Since when the bank does not stand by it; null while it does.';
COMMENT ON COLUMN device_certificates.last_position IS 'Position of the last event that changed the row.';
