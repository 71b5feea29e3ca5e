//! What the log holds of another bank's data, and whether an import of them is under way.

use std::collections::HashMap;

use bursar_domain::{AccountNumber, Currency, Kind};
use sqlx::PgPool;

use super::{StoreError, read, settings};

/// The setting that says which import is not finished.
const UNFINISHED: &str = "import.unfinished";

/// Where something in the log came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Came {
    /// What the other bank called it; nothing when it came from nowhere.
    pub id: Option<String>,
    /// The hash of what its file said.
    pub row: Option<String>,
    /// Who holds it, where it is an account.
    pub owner: Option<String>,
}

/// Those of `ids` that the log knows, and where they came from.
///
/// # Errors
/// [`StoreError`].
pub async fn origins(pool: &PgPool, kind: Kind, ids: &[String]) -> Result<HashMap<String, Came>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT e.aggregate_id, o.value -> 'origin' ->> 'id' AS "id?", o.value -> 'origin' ->> 'row' AS "row?",
                  o.value -> 'terms' ->> 'owner' AS "owner?"
             FROM UNNEST($2::text[]) AS wanted (id)
             JOIN events e ON e.aggregate_type = $1 AND e.aggregate_id = wanted.id AND e.sequence = 1
             LEFT JOIN LATERAL (SELECT value FROM json_each(e.payload) LIMIT 1) o ON true"#,
        kind.as_str(),
        ids
    );
    let rows = rows.fetch_all(pool).await?;
    let came = rows.into_iter().map(|row| {
        let came = Came { id: row.id, row: row.row, owner: row.owner };
        (row.aggregate_id, came)
    });
    Ok(came.collect())
}

/// The import that is not finished, by its name, if there is one.
///
/// # Errors
/// [`StoreError`].
pub async fn unfinished(pool: &PgPool) -> Result<Option<String>, StoreError> {
    let name = settings::recall(pool, UNFINISHED).await?.filter(|name| !name.is_empty());
    Ok(name.map(|name| String::from_utf8_lossy(&name).into_owned()))
}

/// An import of this name is under way from now on; none is, when the name is empty.
///
/// # Errors
/// [`StoreError`].
pub async fn under_way(pool: &PgPool, name: &str) -> Result<(), StoreError> {
    settings::remember(pool, UNFINISHED, name.as_bytes()).await
}

/// What is in these accounts; those that do not exist are left out.
///
/// # Errors
/// [`StoreError`].
pub async fn balances(
    pool: &PgPool,
    accounts: &[AccountNumber],
) -> Result<HashMap<AccountNumber, i64>, StoreError> {
    let numbers: Vec<&str> = accounts.iter().map(AccountNumber::as_str).collect();
    let found = read::ledger_accounts(&mut pool.acquire().await?, &numbers).await?;
    Ok(found.into_iter().map(|(number, account)| (number, account.balance)).collect())
}

/// One line of a trial balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialLine {
    /// ISO 4217.
    pub currency: Currency,
    /// One of the bank's own accounts; `customers` for those of all customers.
    pub account: String,
    /// Minor units; many large balances exceed 64 bits.
    pub balance: i128,
}

/// The trial balance of now.
///
/// # Errors
/// [`StoreError`].
pub async fn trial_balance(pool: &PgPool) -> Result<Vec<TrialLine>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT currency, CASE WHEN owner IS NULL THEN account ELSE 'customers' END AS "account!",
                  sum(balance)::text AS "balance!"
             FROM ledger_accounts GROUP BY 1, 2 ORDER BY 1, 2"#
    );
    let wrong = |what: &str| StoreError::Damaged(format!("{what} of the trial balance"));
    let rows = rows.fetch_all(pool).await?;
    rows.into_iter()
        .map(|row| {
            Ok(TrialLine {
                currency: row.currency.parse().map_err(|_| wrong("currency"))?,
                account: row.account,
                balance: row.balance.parse().map_err(|_| wrong("sum"))?,
            })
        })
        .collect()
}
