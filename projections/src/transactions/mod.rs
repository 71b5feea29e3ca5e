//! Payments from the side of those whose accounts they debit and credit: one row each.

mod query;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use bursar_domain::accounts::AccountEvent;
use bursar_domain::kernel::{Text, TransactionId, UserId};
use bursar_domain::payments::{Completed, Outside, PaymentEvent};
use bursar_domain::{AccountNumber, Event, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use sqlx::PgConnection;

pub use query::{Transaction, TransactionFilter, TransactionSort, find, find_bill, of_owner, search};

use crate::copy::CopyRows;
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::row::{ERASED, erasure, parsed};
use crate::window::Window;

bursar_domain::spelled! {
    /// What has become of a transaction.
    pub enum TransactionStatus {
        /// Made; or accepted, and on its way.
        Success = "SUCCESS",
        /// It has arrived outside.
        Settled = "SETTLED",
        /// It came back.
        Returned = "RETURNED",
        /// Another transaction has undone it.
        Reversed = "REVERSED",
        /// Whoever paid says that it was wrong, and nobody has decided yet.
        Disputed = "DISPUTED",
    }
}

/// Holders kept in memory at most; beyond it they are read anew.
const HELD: usize = 250_000;

const COPY: &str =
    "COPY transactions (transaction_id, position, recorded_at, type, payer, payee, source_account,
    destination_account, amount, fee, currency, reference, narration, destination_name, institution,
    institution_name, outside_number, undoes, last_position) FROM STDIN (FORMAT binary)";
const COPY_HOLDERS: &str =
    "COPY account_holders (account_number, owner, last_position) FROM STDIN (FORMAT binary)";

/// The columns that change after a payment was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fate {
    settled_at: Option<Timestamp>,
    returned_at: Option<Timestamp>,
    return_reason: Option<String>,
    reversed_by: Option<String>,
    dispute_id: Option<String>,
    refunded: i64,
    last_position: Position,
}

impl Fate {
    /// What is final comes first.
    const fn status(&self) -> TransactionStatus {
        match self {
            Self { reversed_by: Some(_), .. } => TransactionStatus::Reversed,
            Self { returned_at: Some(_), .. } => TransactionStatus::Returned,
            Self { dispute_id: Some(_), .. } => TransactionStatus::Disputed,
            Self { settled_at: Some(_), .. } => TransactionStatus::Settled,
            _ => TransactionStatus::Success,
        }
    }

    fn follow(&mut self, what: &PaymentEvent, event: &Recorded) {
        match what {
            PaymentEvent::Completed(_) => {}
            PaymentEvent::Settled(_) => self.settled_at = Some(event.recorded_at),
            PaymentEvent::Returned(cleared) => {
                self.returned_at = Some(event.recorded_at);
                self.return_reason.clone_from(&cleared.reason);
            }
            PaymentEvent::Reversed { by, .. } => self.reversed_by = Some(by.to_string()),
            PaymentEvent::Disputed { dispute_id, .. } => self.dispute_id = Some(dispute_id.to_string()),
            PaymentEvent::DisputeEnded { refund, .. } => {
                self.dispute_id = None;
                // A payment is refunded at most once in full, so that the sum stays an amount.
                self.refunded =
                    self.refunded.saturating_add(refund.map_or(0, |refund| refund.amount.minor()));
            }
        }
        self.last_position = event.position;
    }
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct Transactions {
    /// Whose the accounts are.
    holders: HashMap<AccountNumber, UserId>,
    /// Rows that the tables do not have yet.
    opened: CopyRows,
    made: CopyRows,
    fates: Window<Text, Fate>,
    /// Who was erased, and where in the log.
    erased: Vec<(UserId, Position)>,
    /// The transactions that are left as they are.
    mask: Mask,
}

impl ReadModel for Transactions {
    const NAME: &'static str = "transactions";
    const READS: &'static [Kind] = &[Kind::Account, Kind::Payment, Kind::User];
    const ROW_SETS: &'static [Kind] = &[Kind::Payment];

    fn mask(&mut self, mask: &Mask) {
        self.mask = mask.clone();
    }
    const TABLES: &'static [Table] = &[
        Table {
            name: "transactions",
            key: &["transaction_id"],
            position: "last_position",
            append_only: false,
        },
        Table {
            name: "account_holders",
            key: &["account_number"],
            position: "last_position",
            append_only: false,
        },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let (mut accounts, mut payments) = (HashSet::new(), HashSet::new());
        for event in events {
            match &event.event {
                Event::Payment(PaymentEvent::Completed(made)) => {
                    let unknown = |account: &&&AccountNumber| {
                        !account.is_internal() && !self.holders.contains_key(**account)
                    };
                    accounts
                        .extend([&made.source, &made.destination].iter().filter(unknown).map(|a| a.as_str()));
                }
                Event::Payment(_) if !self.fates.holds(&event.stream.id) => {
                    payments.insert(event.stream.id.as_str());
                }
                _ => {}
            }
        }
        let text = |names: HashSet<&str>| names.into_iter().map(str::to_owned).collect::<Vec<String>>();
        let (accounts, payments) = (text(accounts), text(payments));
        if !accounts.is_empty() {
            self.load_holders(db, &accounts).await?;
        }
        if !payments.is_empty() {
            self.load_fates(db, &payments).await?;
        }
        Ok(())
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        match &event.event {
            Event::Payment(_) if self.mask.hides(&event.stream.id) => {}
            // Whoever catches up with one transaction has all accounts.
            Event::Account(_) if matches!(self.mask, Mask::AllBut(_)) => {}
            Event::Account(AccountEvent::Opened(opened)) => {
                let (number, owner) = (&event.stream.id, opened.terms.owner);
                self.holders.insert(number.as_str().into(), owner);
                self.opened.row(3).text(number).text(&owner.to_string()).int8(event.position);
            }
            Event::Payment(PaymentEvent::Completed(made)) => self.make(event, made)?,
            Event::Payment(later) => {
                if !self.fates.holds(&event.stream.id) {
                    // Made a moment ago, and not in the table yet.
                    self.fates.insert(&event.stream.id, Fate::default());
                }
                if let Some(fate) = self.fates.change(&event.stream.id) {
                    fate.follow(later, event);
                }
            }
            _ => self.erased.extend(erasure(event).map(|(user, _)| (user, event.position))),
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.opened.len() + self.made.len() + self.fates.pending() + self.erased.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.opened.send(db, COPY_HOLDERS).await?;
        self.made.send(db, COPY).await?;
        self.update_fates(db).await?;
        self.erase(db).await?;
        self.fates.saved();
        if self.holders.len() > HELD {
            self.holders.clear();
        }
        Ok(())
    }
}

impl Transactions {
    /// Whose the account is; nobody's when it is the bank's own.
    fn holder(&self, account: &AccountNumber) -> Result<Option<String>, FoldError> {
        if account.is_internal() {
            return Ok(None);
        }
        let holder = self.holders.get(account);
        holder.map(|user| Some(user.to_string())).ok_or_else(|| FoldError::UnknownAccount(account.clone()))
    }

    fn make(&mut self, event: &Recorded, made: &Completed) -> Result<(), FoldError> {
        let (payer, payee) = (self.holder(&made.source)?, self.holder(&made.destination)?);
        let outside = made.outside.as_ref();
        let undoes = made.undoes.as_ref().map(TransactionId::to_string);
        self.made
            .row(19)
            .text(&event.stream.id)
            .int8(event.position)
            .timestamp(made.origin.as_ref().map_or(event.recorded_at, |origin| origin.at))
            .text(made.kind.as_str())
            .optional_text(payer.as_deref())
            .optional_text(payee.as_deref())
            .text(made.source.as_str())
            .text(made.destination.as_str())
            .int8(made.amount.minor())
            .int8(made.fee.map_or(0, |fee| fee.minor()))
            .text(made.currency.as_str())
            .text(&made.reference)
            .optional_text(made.narration.as_deref())
            .optional_text(made.destination_name.as_ref().map(|name| name.or_erased()))
            .optional_text(outside.and_then(Outside::institution))
            .optional_text(outside.and_then(Outside::institution_name))
            .optional_text(outside.map(Outside::number))
            .optional_text(undoes.as_deref())
            .int8(event.position);
        Ok(())
    }

    async fn load_holders(&mut self, db: &mut PgConnection, accounts: &[String]) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            "SELECT account_number, owner FROM account_holders WHERE account_number = ANY($1)",
            accounts
        );
        for row in rows.fetch_all(db).await? {
            self.holders.insert(row.account_number.as_str().into(), parsed(&row.owner)?);
        }
        Ok(())
    }

    async fn load_fates(&mut self, db: &mut PgConnection, payments: &[String]) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"SELECT transaction_id, settled_at AS "settled_at: jiff_sqlx::Timestamp",
                      returned_at AS "returned_at: jiff_sqlx::Timestamp", return_reason, reversed_by, dispute_id,
                      refunded, last_position
               FROM transactions WHERE transaction_id = ANY($1)"#,
            payments
        );
        for row in rows.fetch_all(db).await? {
            let fate = Fate {
                settled_at: row.settled_at.map(jiff_sqlx::Timestamp::to_jiff),
                returned_at: row.returned_at.map(jiff_sqlx::Timestamp::to_jiff),
                return_reason: row.return_reason,
                reversed_by: row.reversed_by,
                dispute_id: row.dispute_id,
                refunded: row.refunded,
                last_position: row.last_position,
            };
            self.fates.loaded(row.transaction_id.as_str().into(), fate);
        }
        Ok(())
    }

    /// The names and numbers that a person's transactions had until they were erased: those they paid and, where they
    /// were paid, their own.
    async fn erase(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        for (user, position) in self.erased.drain(..) {
            sqlx::query!(
                "UPDATE transactions
                    SET destination_name = CASE WHEN destination_name IS NOT NULL THEN $3 END,
                        outside_number = CASE WHEN outside_number IS NOT NULL THEN $3 END,
                        last_position = greatest(last_position, $2)
                  WHERE (payer = $1 OR payee = $1) AND position < $2
                    AND (destination_name IS NOT NULL OR outside_number IS NOT NULL)",
                user.to_string(),
                position,
                ERASED
            )
            .execute(&mut *db)
            .await?;
        }
        Ok(())
    }

    async fn update_fates(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        let changed: Vec<(&Text, &Fate)> = self.fates.changed().collect();
        if changed.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = changed.iter().map(|(id, _)| id.as_str()).collect();
        let statuses: Vec<&str> = changed.iter().map(|(_, fate)| fate.status().as_str()).collect();
        let time = |of: fn(&Fate) -> Option<Timestamp>| -> Vec<_> {
            changed.iter().map(|(_, fate)| of(fate).map(ToSqlx::to_sqlx)).collect()
        };
        let text = |of: fn(&Fate) -> Option<&String>| -> Vec<Option<&str>> {
            changed.iter().map(|(_, fate)| of(fate).map(String::as_str)).collect()
        };
        let refunded: Vec<i64> = changed.iter().map(|(_, fate)| fate.refunded).collect();
        let positions: Vec<i64> = changed.iter().map(|(_, fate)| fate.last_position).collect();
        sqlx::query!(
            "UPDATE transactions t
             SET status = n.status, settled_at = n.settled, returned_at = n.returned, return_reason = n.reason,
                 reversed_by = n.reversed, dispute_id = n.dispute, refunded = n.refunded, last_position = n.position
             FROM UNNEST($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
                         $7::text[], $8::bigint[], $9::bigint[])
                  AS n (id, status, settled, returned, reason, reversed, dispute, refunded, position)
             WHERE t.transaction_id = n.id COLLATE \"C\"",
            ids as _,
            statuses as _,
            time(|fate| fate.settled_at) as _,
            time(|fate| fate.returned_at) as _,
            text(|fate| fate.return_reason.as_ref()) as _,
            text(|fate| fate.reversed_by.as_ref()) as _,
            text(|fate| fate.dispute_id.as_ref()) as _,
            &refunded,
            &positions
        )
        .execute(db)
        .await?;
        Ok(())
    }
}
