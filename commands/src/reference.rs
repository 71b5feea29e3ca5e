//! The reference data that ship with the bank: in tables for analysts, in memory for answers.
//!
//! A dataset is a CSV file and a table of its name in `migrations/reference`, the columns in the file's order, and one
//! line in [`DATASETS`]. What the bank looks up itself is in the [`Reference`] as well, from the same bytes, so that an
//! answer needs no database.

use std::sync::LazyLock;

use bursar_domain::reference::{Choices, Places, Reference, ReferenceError};
use serde::de::DeserializeOwned;
use sqlx::{Connection as _, PgConnection};

use crate::keys::{hex, sha256};

/// A file and the table it goes into.
#[derive(Debug, Clone, Copy)]
struct Dataset {
    table: &'static str,
    csv: &'static str,
}

macro_rules! dataset {
    ($table:literal) => {
        Dataset { table: $table, csv: include_str!(concat!("../../migrations/reference/", $table, ".csv")) }
    };
}

const BANKS: Dataset = dataset!("banks");
const BILLER_CATEGORIES: Dataset = dataset!("biller_categories");
const BILLERS: Dataset = dataset!("billers");
const BILLER_ITEMS: Dataset = dataset!("biller_items");
const CARD_BIN_RANGES: Dataset = dataset!("card_bin_ranges");
const COUNTRIES: Dataset = dataset!("countries");
const STATES: Dataset = dataset!("states");
const CITIES: Dataset = dataset!("cities");
const GENDERS: Dataset = dataset!("genders");
const MARITAL_STATUSES: Dataset = dataset!("marital_statuses");
const PROFESSIONS: Dataset = dataset!("professions");
const RELATIONSHIPS: Dataset = dataset!("relationships");
const PERIODS: Dataset = dataset!("periods");
const LOAN_INTERVALS: Dataset = dataset!("loan_intervals");

/// All of them.
const DATASETS: [Dataset; 15] = [
    dataset!("currencies"),
    BANKS,
    BILLER_CATEGORIES,
    BILLERS,
    BILLER_ITEMS,
    CARD_BIN_RANGES,
    COUNTRIES,
    STATES,
    CITIES,
    GENDERS,
    MARITAL_STATUSES,
    PROFESSIONS,
    RELATIONSHIPS,
    PERIODS,
    LOAN_INTERVALS,
];

/// Data that do not make sense. The tests read the same bytes, so a bank that was tested does not see this.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// A row.
    #[error("{table}.csv: {source}")]
    Row {
        /// The file.
        table: &'static str,
        /// What is wrong, and where.
        source: csv::Error,
    },
    /// Rows that do not fit together.
    #[error(transparent)]
    Rows(#[from] ReferenceError),
}

/// What the bank looks up, from the files it was built with.
#[derive(Debug)]
pub struct Lookup {
    /// What payments and cards are checked against.
    pub reference: Reference,
    /// Where people live.
    pub places: Places,
    /// What people choose from.
    pub choices: Choices,
}

/// Read once a process: cities are many.
static LOOKUP: LazyLock<Result<Lookup, EmbeddedError>> = LazyLock::new(Lookup::read);

/// What the bank looks up.
///
/// # Errors
/// [`EmbeddedError`].
pub fn embedded() -> Result<&'static Lookup, &'static EmbeddedError> {
    LOOKUP.as_ref()
}

impl Lookup {
    fn read() -> Result<Self, EmbeddedError> {
        let categories = BILLER_CATEGORIES.read()?;
        let reference = Reference::new(BANKS.read()?, categories, BILLERS.read()?, BILLER_ITEMS.read()?)?;
        Ok(Self {
            reference: reference.with_cards(CARD_BIN_RANGES.read()?)?,
            places: Places::new(COUNTRIES.read()?, STATES.read()?, CITIES.read()?)?,
            choices: Choices {
                genders: GENDERS.read()?,
                marital_statuses: MARITAL_STATUSES.read()?,
                relationships: RELATIONSHIPS.read()?,
                professions: PROFESSIONS.read()?,
                periods: PERIODS.read()?,
                loan_intervals: LOAN_INTERVALS.read()?,
            },
        })
    }
}

/// Brings the tables to the version of the files. Those that are in it already are not touched; readers see either all
/// old rows or all new ones. Whoever calls makes sure that no other process does at the same time.
///
/// # Errors
/// When the database cannot be written, or a file does not fit its table.
pub async fn load(db: &mut PgConnection) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    let loaded = sqlx::query!("SELECT dataset, sha256 FROM loaded").fetch_all(&mut *tx).await?;
    for dataset in DATASETS {
        let sha256 = dataset.sha256();
        if !loaded.iter().any(|row| row.dataset == dataset.table && row.sha256 == sha256) {
            dataset.replace(&mut tx, &sha256).await?;
        }
    }
    tx.commit().await
}

impl Dataset {
    /// Its rows.
    fn read<T: DeserializeOwned>(self) -> Result<Vec<T>, EmbeddedError> {
        let reader = csv::Reader::from_reader(self.csv.as_bytes());
        let rows: Result<_, _> = reader.into_deserialize().collect();
        rows.map_err(|source| EmbeddedError::Row { table: self.table, source })
    }

    /// Names this version of it.
    fn sha256(self) -> String {
        hex(&sha256(self.csv.as_bytes()))
    }

    /// Puts its rows in the place of those in the table. `DELETE`, because `TRUNCATE` would make readers wait.
    async fn replace(self, db: &mut PgConnection, sha256: &str) -> sqlx::Result<()> {
        let Self { table, csv } = self;
        sqlx::query(&format!("DELETE FROM {table}")).execute(&mut *db).await?;
        // Postgres reads CSV itself (an empty field is null), and refuses a file whose columns are not the table's.
        let copy = format!("COPY {table} FROM STDIN (FORMAT csv, HEADER match)");
        let mut copying = db.copy_in_raw(&copy).await?;
        copying.send(csv.as_bytes()).await?;
        let rows = i64::try_from(copying.finish().await?).unwrap_or(i64::MAX);
        sqlx::query!(
            "INSERT INTO loaded (dataset, sha256, rows) VALUES ($1, $2, $3)
             ON CONFLICT (dataset) DO UPDATE SET sha256 = excluded.sha256, rows = excluded.rows",
            table,
            sha256,
            rows
        )
        .execute(db)
        .await?;
        tracing::info!(dataset = table, rows, "reference data loaded");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bursar_domain::Currency;

    use super::*;

    #[test]
    fn the_bank_can_look_up_what_it_ships() {
        let Lookup { reference, places, choices } = embedded().unwrap();
        let lines = |dataset: Dataset| dataset.csv.lines().count() - 1;
        assert_eq!(reference.banks.iter().count(), lines(BANKS));
        assert_eq!(reference.billers.iter().count(), lines(BILLERS));
        let items = reference.billers.iter().map(|biller| reference.items_of(biller).count());
        assert_eq!(items.sum::<usize>(), lines(BILLER_ITEMS));
        assert_eq!(reference.card_brands.iter().count(), lines(CARD_BIN_RANGES));
        assert_eq!(places.countries.iter().count(), lines(COUNTRIES));
        let states = || places.countries.iter().flat_map(|country| places.states_of(country));
        assert_eq!(states().count(), lines(STATES));
        // Some cities are in no subdivision that is known.
        assert!((30_000..lines(CITIES)).contains(&states().map(|s| places.cities_of(s).count()).sum()));
        assert_eq!(choices.professions.len(), lines(PROFESSIONS));
        for category in reference.categories.iter() {
            assert!(reference.billers.iter().any(|b| b.category_code == category.category_code));
        }
    }

    /// The exponents stand in the domain as well, which reads no files.
    #[test]
    fn every_currency_has_the_minor_unit_that_money_is_counted_in() {
        #[derive(serde::Deserialize)]
        struct Row {
            currency_code: Currency,
            minor_unit: Option<u8>,
        }
        for row in dataset!("currencies").read::<Row>().unwrap() {
            let Row { currency_code, minor_unit } = row;
            assert_eq!(currency_code.minor_unit(), minor_unit.unwrap_or(0), "{currency_code}");
        }
    }

    #[test]
    fn a_row_that_cannot_be_read_is_named() {
        let wrong = Dataset { table: "banks", csv: "bank_code,bank_name\n1,One\n" };
        let error = wrong.read::<bursar_domain::reference::Bank>().unwrap_err().to_string();
        assert!(error.starts_with("banks.csv: ") && error.contains("line: 2"), "{error}");
    }

    #[test]
    fn another_version_has_another_name() {
        let changed = Dataset { csv: "bank_code\n", ..BANKS };
        assert_ne!(changed.sha256(), BANKS.sha256());
        assert_eq!(BANKS.sha256().len(), 64);
    }
}
