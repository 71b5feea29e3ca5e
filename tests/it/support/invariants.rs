//! What must hold of a bank whatever happened to it. One checker for every fault, and each part of it has a control
//! in [`controls`](crate::controls) that turns it red.
//!
//! The questions are SQL on the stored rows: they share no code with the bank. `bursar audit replay` and
//! `bursar projections verify` are asked as well.
//!
//! | | invariant | asked of |
//! |---|---|---|
//! | I1 | postings sum to zero for each transaction and currency, and so does the whole ledger | log, ledger |
//! | I2, I9 | the ledger and every read model are folds of the log | ledger, read models |
//! | I3 | no debit takes more than is available, at any prefix of the log | log |
//! | I5 | what was acknowledged is in the log exactly once, and nothing else is | [`Acknowledged`], log |
//! | I6 | one key is one transaction, and a repeat is told the same | [`Acknowledged`], keys |
//! | I8 | positions gapless, versions contiguous, times in order | log |
//! | I10 | each entry's balance is the one before plus its amount | log, statements |

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bursar_commands::audit;
use bursar_domain::codec::Codec;
use sqlx::{Connection, PgPool, Row};

use super::verify;

/// Every posting of the log in order, and what each account must keep; read once, asked often.
const PREPARE: &str = "
    CREATE TEMP TABLE postings ON COMMIT DROP AS
    SELECT e.position, l.line, l.posting->>'account' AS account, (l.posting->>'amount')::bigint AS amount,
           l.posting->>'currency' AS currency, (l.posting->>'balance')::bigint AS balance,
           sum((l.posting->>'amount')::bigint)
               OVER (PARTITION BY l.posting->>'account' ORDER BY e.position, l.line)::bigint AS running
      FROM events e,
           jsonb_path_query(e.payload::jsonb, '$.*.postings[*]') WITH ORDINALITY AS l (posting, line);
    CREATE TEMP TABLE floors ON COMMIT DROP AS
    SELECT aggregate_id AS account, (terms->>'minimum_balance')::bigint - (terms->>'overdraft_limit')::bigint AS floor
      FROM events, jsonb_path_query(payload::jsonb, '$.opened.terms') AS terms WHERE event_type = 'account.opened'";

/// The invariant, and a question whose every answer is something wrong.
pub const QUESTIONS: [(&str, &str); 13] = [
    (
        "I1",
        "SELECT format('the postings at position %s sum to %s %s', position, sum(amount), currency)
           FROM postings GROUP BY position, currency HAVING sum(amount) <> 0",
    ),
    (
        "I1",
        "SELECT format('the ledger sums to %s %s', sum(balance), currency)
           FROM ledger_accounts GROUP BY currency HAVING sum(balance) <> 0",
    ),
    (
        "I2",
        "SELECT format('ledger account %s has %s and not %s', account, balance, posted)
           FROM (SELECT account, sum(amount)::bigint AS posted FROM postings GROUP BY account) p
           FULL JOIN ledger_accounts USING (account) WHERE coalesce(balance, 0) <> coalesce(posted, 0)",
    ),
    (
        "I3",
        "SELECT format('a debit at position %s leaves %s with %s, and %s must stay', position, account, running, floor)
           FROM postings p JOIN floors USING (account) WHERE amount < 0 AND running < floor
            -- What was taken over has happened at another bank, whose business it was.
            AND NOT EXISTS (SELECT FROM events e WHERE e.position = p.position
                               AND e.payload->'completed'->>'kind' = 'TAKEN_OVER')
            -- But for the last debit of all, which leaves nothing in an account that is closed by the same unit.
            AND NOT (running = 0 AND EXISTS (
                SELECT FROM events e, events c
                 WHERE e.position = p.position AND e.payload->'completed'->>'kind' = 'ACCOUNT_CLOSURE'
                   AND c.event_type = 'account.closed' AND c.aggregate_id = p.account
                   AND c.metadata::jsonb - 'owner' = e.metadata::jsonb - 'owner'))",
    ),
    (
        "I6",
        "SELECT format('one key for %s requests: %s', count(*), encode(key, 'hex'))
           FROM idempotency_keys GROUP BY key HAVING count(*) > 1",
    ),
    (
        "I6",
        "SELECT format('two keys for the events %s to %s', first_position, last_position)
           FROM (SELECT *, max(last_position) OVER (ORDER BY first_position, key
                                                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                   FROM idempotency_keys) k WHERE first_position <= before",
    ),
    (
        "I6",
        "SELECT format('no single request are the events %s to %s of key %s', first_position,
                       last_position, encode(key, 'hex'))
           FROM idempotency_keys k LEFT JOIN events e ON e.position BETWEEN first_position AND last_position
          GROUP BY key, day, first_position, last_position
         HAVING count(e.position) <> last_position - first_position + 1 OR count(DISTINCT e.metadata::jsonb - 'owner') > 1",
    ),
    (
        "I8",
        "SELECT format('after position %s comes %s', before, position)
           FROM (SELECT position, lag(position, 1, 0::bigint) OVER (ORDER BY position) AS before FROM events) e
          WHERE position <> before + 1",
    ),
    (
        "I8",
        "SELECT format('the head is at %s, the last event at %s', head.position, last)
           FROM head, (SELECT coalesce(max(position), 0) AS last FROM events) e WHERE last <> head.position",
    ),
    (
        "I8",
        "SELECT format('event %s of %s %s says it is event %s', place, aggregate_type, aggregate_id, sequence)
           FROM (SELECT *, row_number() OVER (PARTITION BY aggregate_type, aggregate_id ORDER BY position) AS place
                   FROM events) e WHERE sequence <> place",
    ),
    (
        "I8",
        "SELECT format('time goes back at position %s, from %s to %s', position, before, recorded_at)
           FROM (SELECT *, lag(recorded_at) OVER (ORDER BY position) AS before FROM events) e
          WHERE recorded_at < before",
    ),
    (
        "I10",
        "SELECT format('the log says at position %s that %s has %s, and it has %s', position, account, balance,
                       running)
           FROM postings WHERE balance <> running",
    ),
    (
        "I10",
        "SELECT format('the statement of %s says %s after %s and %s', account_number, balance, before, amount)
           FROM (SELECT *, lag(balance, 1, 0::bigint) OVER (PARTITION BY account_number
                                                           ORDER BY recorded_at, position, line) AS before
                   FROM statement_entries) s WHERE balance <> before + amount",
    ),
];

/// Everything that is not as it must be, each with its invariant in front. May be asked beside a running server.
pub async fn violations(pool: &PgPool) -> Vec<String> {
    let mut found = Vec::new();
    // A connection of its own: plans and temporary tables do not stay with the pool.
    let mut connection = pool.acquire().await.unwrap().detach();
    let mut snapshot = connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
    sqlx::raw_sql(PREPARE).execute(&mut *snapshot).await.unwrap();
    for (invariant, question) in QUESTIONS {
        let few = format!("SELECT * FROM ({question}) AS wrong (what) LIMIT 5");
        let wrong: Vec<String> = sqlx::query_scalar(&few).fetch_all(&mut *snapshot).await.unwrap();
        found.extend(wrong.into_iter().map(|what| format!("{invariant}: {what}")));
    }
    snapshot.rollback().await.unwrap();
    connection.close().await.unwrap();
    // The audit needs no key: to it, what is sealed stays sealed.
    let report = audit::replay(pool, &Codec::default(), &mut |_, _| {}).await.unwrap();
    found.extend(report.difference.map(|difference| format!("audit: {difference}")));
    let names: Vec<&str> = bursar_projections::catalogue().iter().map(|entry| entry.name).collect();
    match verify(pool, &names).await {
        Ok(models) => {
            let wrong = models.into_iter().filter(|model| model.differing > 0);
            found.extend(wrong.map(|model| {
                format!("I2: {} rows of {}: {:?}", model.differing, model.model, model.diffs.first())
            }));
        }
        Err(error) => found.push(format!("I9: read models cannot be made: {error}")),
    }
    found
}

/// What clients were told, request by request, from some position of the log on.
#[derive(Debug, Clone, Default)]
pub struct Acknowledged {
    since: i64,
    /// By key, or by whatever name a request has: the transactions it was answered with, and in which words.
    answers: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl Acknowledged {
    /// Every payment after this position is one that these clients asked for.
    pub const fn since(position: i64) -> Self {
        Self { since: position, answers: BTreeMap::new() }
    }

    /// The request was answered with this transaction, in these words.
    pub fn note(&mut self, request: impl Into<String>, transaction: &str, words: &str) {
        let answers = self.answers.entry(request.into()).or_default();
        answers.insert((transaction.to_owned(), words.to_owned()));
    }

    /// Takes over what somebody else was told.
    pub fn extend(&mut self, other: Self) {
        for (request, answers) in other.answers {
            self.answers.entry(request).or_default().extend(answers);
        }
    }

    /// Requests answered so far.
    pub fn count(&self) -> usize {
        self.answers.len()
    }

    /// I5 and I6 when every request was asked until it was answered.
    pub async fn violations(&self, pool: &PgPool) -> Vec<String> {
        let recorded = self.recorded(pool).await;
        let mut found = self.contradictions();
        found.extend(self.lost(&recorded));
        let known: BTreeSet<&str> = self.transactions().collect();
        let stray = recorded.keys().filter(|id| !known.contains(id.as_str()));
        found.extend(stray.map(|id| format!("I5: {id} is in the log and was never acknowledged")));
        found
    }

    /// I5 and I6 while requests are under way: what was acknowledged is there; what was not may be.
    pub async fn violations_so_far(&self, pool: &PgPool) -> Vec<String> {
        let recorded = self.recorded(pool).await;
        let mut found = self.contradictions();
        found.extend(self.lost(&recorded));
        found
    }

    fn transactions(&self) -> impl Iterator<Item = &str> {
        self.answers.values().flatten().map(|(transaction, _)| transaction.as_str())
    }

    /// How many payments of each id the log has.
    async fn recorded(&self, pool: &PgPool) -> HashMap<String, i64> {
        let sql = "SELECT aggregate_id, count(*) FROM events
                    WHERE event_type = 'payment.completed' AND position > $1 GROUP BY aggregate_id";
        let rows: Vec<(String, i64)> = sqlx::query_as(sql).bind(self.since).fetch_all(pool).await.unwrap();
        rows.into_iter().collect()
    }

    fn lost(&self, recorded: &HashMap<String, i64>) -> Vec<String> {
        let times = |id: &str| recorded.get(id).copied().unwrap_or(0);
        let wrong = self.transactions().filter(|id| times(id) != 1);
        wrong.map(|id| format!("I5: {id} was acknowledged and is in the log {} times", times(id))).collect()
    }

    fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut asked_by: HashMap<&str, &str> = HashMap::new();
        for (request, answers) in &self.answers {
            if answers.len() > 1 {
                found.push(format!("I6: {request} was answered in {} ways: {answers:?}", answers.len()));
            }
            for (transaction, _) in answers {
                if let Some(other) = asked_by.insert(transaction, request)
                    && other != request
                {
                    found.push(format!("I6: {request} and {other} are both {transaction}"));
                }
            }
        }
        found
    }
}

/// What is wrong with the connections of a pool that nobody uses: transactions that somebody left open, and places
/// that somebody never gave back.
pub async fn pool_violations(pool: &PgPool) -> Vec<String> {
    let mut found = Vec::new();
    let mut held = Vec::new();
    for n in 1..=pool.options().get_max_connections() {
        match pool.acquire().await {
            Ok(connection) => held.push(connection),
            Err(error) => {
                found.push(format!("pool: connection {n} cannot be had: {error}"));
                break;
            }
        }
    }
    for connection in &mut held {
        // In a transaction of its own, a simple query begins when its transaction does.
        let alone = sqlx::raw_sql("SELECT now() = statement_timestamp()").fetch_one(&mut **connection).await;
        match alone.and_then(|row| row.try_get(0)) {
            Ok(true) => {}
            Ok(false) => found.push("pool: a connection is inside somebody's transaction".to_owned()),
            Err(error) => found.push(format!("pool: a connection does not work: {error}")),
        }
    }
    found
}

/// Deadlocks that Postgres had to break in this database so far. Those of a connection count once it is closed.
pub async fn deadlocks(pool: &PgPool) -> i64 {
    let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// What a follower that should have seen `all`, in order, has not, or not so.
pub fn missed(all: &[i64], seen: &[i64]) -> Vec<String> {
    let there: BTreeSet<i64> = seen.iter().copied().collect();
    let mut found: Vec<String> = all
        .iter()
        .filter(|position| !there.contains(position))
        .map(|p| format!("T23: {p} was missed"))
        .collect();
    let disorder = seen.windows(2).filter(|pair| pair[1] <= pair[0]);
    found.extend(disorder.map(|pair| format!("T23: {} was seen after {}", pair[1], pair[0])));
    found
}

/// None of these.
#[track_caller]
pub fn none(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} violations, the first of them:\n{}",
        violations.len(),
        violations.iter().take(10).cloned().collect::<Vec<_>>().join("\n")
    );
}

/// Somebody noticed: there is a violation that begins so.
#[track_caller]
pub fn red(violations: &[String], invariant: &str) {
    assert!(
        violations.iter().any(|violation| violation.starts_with(invariant)),
        "nobody noticed; {invariant} is not among {violations:?}"
    );
}
