//! Certificates of devices, and which of them are good no more.

use bursar_domain::devices::KeyOrigin;
use bursar_domain::kernel::{CertificateId, UserId};
use bursar_domain::{Event, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};

use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records};
use crate::row::owner;

/// A certificate. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateRow {
    /// Its id.
    pub certificate_id: CertificateId,
    /// Whose device it was issued to.
    pub owner: UserId,
    /// The device.
    pub device_id: String,
    /// Hex.
    pub serial: String,
    /// SHA-256, hex.
    pub fingerprint: String,
    /// Who made the key.
    pub key_origin: KeyOrigin,
    /// From when on it is good.
    pub valid_from: Timestamp,
    /// Until when it is good.
    pub valid_to: Timestamp,
    /// Since when it is not.
    pub revoked_at: Option<Timestamp>,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl Record for CertificateRow {
    const TABLE: &'static Table = &DeviceCertificates::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = CertificateId;
    type Group = UserId;

    fn key(&self) -> CertificateId {
        self.certificate_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// The certificates that would be good at `now`, if they had not been revoked; in the order of their ids.
///
/// # Errors
/// When the database cannot be read.
pub async fn revoked(pool: &PgPool, now: Timestamp) -> sqlx::Result<Vec<CertificateRow>> {
    let sql = "SELECT to_jsonb(t) FROM device_certificates t
                WHERE revoked_at IS NOT NULL AND valid_to > $1 ORDER BY certificate_id";
    let rows = sqlx::query_scalar::<_, Json<CertificateRow>>(sql).bind(now.to_sqlx()).fetch_all(pool).await?;
    Ok(rows.into_iter().map(|Json(row)| row).collect())
}

/// The read model behind [`revoked`].
#[derive(Debug, Default)]
pub struct DeviceCertificates {
    rows: Records<CertificateRow>,
}

impl ReadModel for DeviceCertificates {
    const NAME: &'static str = "device_certificates";
    const READS: &'static [Kind] = &[Kind::Devices];
    const TABLES: &'static [Table] = &[Table {
        name: "device_certificates",
        key: &["certificate_id"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let touched = events.iter().filter(|event| match &event.event {
            Event::Devices(what) => what.issues().is_some() || !what.revokes().is_empty(),
            _ => false,
        });
        self.rows.load(db, touched.filter_map(|event| owner(event).ok())).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Devices(what) = &event.event else { return Ok(()) };
        let owner = owner(event)?;
        for revoked in what.revokes() {
            let gone = |row: &mut CertificateRow| {
                row.revoked_at = Some(event.recorded_at);
                row.last_position = event.position;
            };
            self.rows.change(&owner, |row| row.certificate_id == *revoked, gone);
        }
        if let Some(certificate) = what.issues() {
            self.rows.insert(CertificateRow {
                certificate_id: certificate.id,
                owner,
                device_id: certificate.device_id.clone(),
                serial: certificate.serial.clone(),
                fingerprint: certificate.fingerprint.clone(),
                key_origin: certificate.key_origin,
                valid_from: certificate.valid_from,
                valid_to: certificate.valid_to,
                revoked_at: None,
                last_position: event.position,
            });
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
