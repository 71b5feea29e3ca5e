//! The questions, asked of real tables.

use std::time::Duration;

use bursar_domain::kernel::utc_date;
use bursar_domain::ledger::AccountStatus;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::bank::{MINIMUM, OVERDRAFT, cash, number};
use super::{Bank, Scratch, user};
use crate::accounts::{AccountFilter, AccountSort};
use crate::daily_balances::{DayRange, history};
use crate::statement_entries::{
    AsOf, EntryFilter, EntryType, Statement, StatementEntry, StatementRange, WholeStatement, balance,
    statement,
};
use crate::{Page, Sort, accounts, products};

const LONG: Duration = Duration::from_secs(20);
const EVERYTHING: Page = Page { page: 1, size: 100_000 };

async fn followed(scratch: &Scratch, bank: &Bank, events: &[bursar_domain::Recorded]) {
    scratch.write_ledger(bank).await;
    more(scratch, bank, events).await;
}

async fn more(scratch: &Scratch, bank: &Bank, events: &[bursar_domain::Recorded]) {
    scratch.append(events).await;
    let projections = scratch.start();
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    projections.stop().await;
}

fn ever(as_of: Option<AsOf>) -> StatementRange {
    let to = "2027-01-01T00:00:00Z".parse().unwrap();
    StatementRange { from: Timestamp::UNIX_EPOCH, to, as_of }
}

async fn of(scratch: &Scratch, range: StatementRange, filter: &EntryFilter, page: Page) -> Statement {
    statement(&scratch.pool, &number(1), range, filter, Sort::default(), page).await.unwrap()
}

#[tokio::test]
async fn a_statement_adds_up_over_any_range() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let events = bank.history(5, 2_000);
    followed(&scratch, &bank, &events).await;
    let whole = of(&scratch, ever(None), &EntryFilter::default(), EVERYTHING).await;
    assert_eq!((whole.opening_balance, whole.closing_balance), (0, bank.balance(&number(1))));
    assert!(whole.entries.items.iter().rev().is_sorted_by_key(|entry| entry.position), "newest first");

    let middle: Timestamp = "2026-02-02T07:30:00Z".parse().unwrap();
    for days in [1, 7, 30, 200] {
        let hours = SignedDuration::from_hours(days);
        let range = StatementRange { from: middle - hours, to: middle + hours, as_of: None };
        let part = of(&scratch, range, &EntryFilter::default(), EVERYTHING).await;
        let inside =
            |entry: &&StatementEntry| entry.recorded_at >= range.from && entry.recorded_at < range.to;
        let expected: Vec<_> = whole.entries.items.iter().filter(inside).cloned().collect();
        assert_eq!((part.entries.total, &part.entries.items), (expected.len() as i64, &expected));
        let sum: i64 = expected.iter().map(|entry| entry.amount).sum();
        assert_eq!(part.closing_balance, part.opening_balance + sum);
    }
    scratch.drop().await;
}

#[tokio::test]
async fn how_many_entries_there_are_is_read_and_not_counted() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let first = bank.history(5, 300);
    followed(&scratch, &bank, &first).await;
    let one = Page { page: 1, size: 1 };
    let both = async |range: StatementRange| {
        let all = EntryFilter::default();
        // A filter that lets everything through is counted.
        let counted = EntryFilter { min_amount: Some(0), ..EntryFilter::default() };
        let total = of(&scratch, range, &all, one).await.entries.total;
        (total, of(&scratch, range, &counted, one).await.entries.total)
    };
    // Another process goes on where the first one stopped, and a rebuild comes to the same.
    let then = bank.payments(5, 200);
    more(&scratch, &bank, &then).await;
    let numbers = "SELECT count(*) FROM (SELECT number, row_number() OVER
                     (PARTITION BY account_number ORDER BY recorded_at, position, line) AS nth
                     FROM statement_entries) e WHERE number <> nth";
    assert_eq!(scratch.value::<i64>(numbers).await, 0);
    let from = "2026-02-01T12:00:00Z".parse().unwrap();
    for as_of in [None, Some(AsOf::Position(bank.position / 2)), Some(AsOf::Time(from))] {
        for from in [Timestamp::UNIX_EPOCH, from] {
            let (total, counted) = both(StatementRange { from, ..ever(as_of) }).await;
            assert_eq!(total, counted, "{from} {as_of:?}");
        }
    }
    assert!(both(ever(None)).await.0 > 100);
    // The control: it is the number that tells.
    scratch.execute("UPDATE statement_entries SET number = number + 7").await;
    let (total, counted) = both(ever(None)).await;
    assert_eq!(total, counted + 7);
    let reports = crate::rebuild(scratch.log(), &["statement_entries"], &()).await.unwrap();
    assert_eq!(reports[0].differing, reports[0].rows, "each row is seen to differ");
    let (total, counted) = both(ever(None)).await;
    assert_eq!(total, counted);
    scratch.drop().await;
}

#[tokio::test]
async fn a_statement_is_paged_and_filtered() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let events = bank.history(5, 500);
    followed(&scratch, &bank, &events).await;
    let whole = of(&scratch, ever(None), &EntryFilter::default(), EVERYTHING).await;
    let mut paged = Vec::new();
    for page in 1.. {
        let part = of(&scratch, ever(None), &EntryFilter::default(), Page { page, size: 33 }).await;
        assert_eq!((part.entries.total, part.closing_balance), (whole.entries.total, whole.closing_balance));
        if part.entries.items.is_empty() {
            break;
        }
        paged.extend(part.entries.items);
    }
    assert_eq!(paged, whole.entries.items);

    let like = |text: &str| EntryFilter { q: Some(text.into()), ..EntryFilter::default() };
    let debits = EntryFilter {
        entry_type: Some(EntryType::Debit),
        min_amount: Some(100),
        max_amount: Some(500),
        ..like("TRANSFER sent")
    };
    let part = of(&scratch, ever(None), &debits, EVERYTHING).await;
    let expected: Vec<_> =
        whole.entries.items.iter().filter(|entry| (-500..=-100).contains(&entry.amount)).cloned().collect();
    assert!(!expected.is_empty());
    assert_eq!(part.entries.items, expected);
    assert_eq!((part.opening_balance, part.closing_balance), (0, whole.closing_balance), "of the range");
    assert_eq!(
        of(&scratch, ever(None), &like("%"), EVERYTHING).await.entries.total,
        0,
        "a per cent sign is one"
    );
    let by_amount = "-amount".parse().unwrap();
    let sorted =
        statement(&scratch.pool, &number(1), ever(None), &like(""), by_amount, EVERYTHING).await.unwrap();
    assert!(sorted.entries.items.iter().rev().is_sorted_by_key(|entry| entry.amount.abs()));
    scratch.drop().await;
}

/// Every part of a whole statement, and how many there were.
async fn parts(scratch: &Scratch, whole: &WholeStatement) -> (Vec<StatementEntry>, usize) {
    let (mut all, mut count, mut place) = (Vec::new(), 0, None);
    loop {
        let (entries, next) = whole.part(&scratch.pool, place).await.unwrap();
        all.extend(entries);
        count += 1;
        match next {
            Some(_) => place = next,
            None => return (all, count),
        }
    }
}

#[tokio::test]
async fn a_whole_statement_is_read_in_parts_and_ends_where_it_did_when_it_began() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    // Twins at one microsecond everywhere, so that parts end between them.
    let mut events = bank.history(2, 1_700);
    for pair in events.chunks_mut(2) {
        let at = pair[0].recorded_at;
        pair.iter_mut().for_each(|event| event.recorded_at = at);
    }
    followed(&scratch, &bank, &events).await;
    let range = ever(None);
    let begin = async |range: StatementRange, filter: &EntryFilter| {
        WholeStatement::begin(&scratch.pool, &number(1), range, filter.clone()).await.unwrap()
    };
    let debits = EntryFilter { entry_type: Some(EntryType::Debit), ..EntryFilter::default() };
    for filter in [EntryFilter::default(), debits] {
        let mut listed = of(&scratch, range, &filter, EVERYTHING).await;
        listed.entries.items.reverse();
        let whole = begin(range, &filter).await;
        let (entries, count) = parts(&scratch, &whole).await;
        assert_eq!(entries, listed.entries.items);
        assert!(count > 1, "{count} parts of {} entries", entries.len());
        assert_eq!(whole.opening_balance, listed.opening_balance);
        assert_eq!(whole.closing_balance, listed.closing_balance);
        for (total, out) in [(whole.credits, false), (whole.debits, true)] {
            let some: Vec<i128> =
                entries.iter().filter(|e| (e.amount < 0) == out).map(|e| e.amount.into()).collect();
            let sum: i128 = some.iter().sum();
            assert_eq!((total.entries, total.amount), (some.len() as i64, sum.abs()));
        }
    }
    let early = begin(range, &EntryFilter::default()).await;
    let (before, _) = parts(&scratch, &early).await;
    let later = bank.payments(2, 50);
    more(&scratch, &bank, &later).await;
    assert_eq!(parts(&scratch, &early).await.0, before, "what came later is not in it");
    let late = begin(range, &EntryFilter::default()).await;
    assert!(late.position > early.position && parts(&scratch, &late).await.0.len() > before.len());
    assert_eq!(late.until, range.to);

    let past = StatementRange { as_of: Some(AsOf::Position(early.position)), ..range };
    let then = begin(past, &EntryFilter::default()).await;
    assert_eq!((then.position, then.closing_balance), (early.position, early.closing_balance));
    assert_eq!(parts(&scratch, &then).await.0, before);
    assert!(then.until < range.to);
    let nothing = begin(StatementRange { to: range.from, ..range }, &EntryFilter::default()).await;
    assert_eq!(parts(&scratch, &nothing).await, (Vec::new(), 1));
    assert_eq!((nothing.position, nothing.closing_balance, nothing.until), (0, 0, range.from));
    scratch.drop().await;
}

#[tokio::test]
async fn the_past_can_be_asked_by_time_and_by_position() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let mut events = bank.history(3, 50);
    // Two at the same microsecond: only the position tells them apart.
    let mut twins = bank.payments(2, 2);
    twins[1].recorded_at = twins[0].recorded_at;
    events.extend(twins);
    followed(&scratch, &bank, &events).await;
    let whole = of(&scratch, ever(None), &EntryFilter::default(), EVERYTHING).await.entries.items;
    let known = |seen: &dyn Fn(&StatementEntry) -> bool| {
        whole.iter().find(|entry| seen(entry)).map_or(0, |e| e.balance)
    };
    for event in &events {
        let (position, at) = (event.position, event.recorded_at);
        for (as_of, expected) in [
            (AsOf::Position(position), known(&|entry| entry.position <= position)),
            (AsOf::Time(at), known(&|entry| entry.recorded_at <= at)),
        ] {
            assert_eq!(
                balance(&scratch.pool, &number(1), as_of).await.unwrap().ledger,
                expected,
                "{as_of:?}"
            );
            let then = of(&scratch, ever(Some(as_of)), &EntryFilter::default(), EVERYTHING).await;
            assert_eq!(then.closing_balance, expected, "{as_of:?}");
        }
    }
    for (as_of, expected) in [(0, 0), (bank.position + 9, bank.balance(&number(1)))] {
        assert_eq!(balance(&scratch.pool, &number(1), AsOf::Position(as_of)).await.unwrap().ledger, expected);
    }
    scratch.drop().await;
}

#[tokio::test]
async fn quiet_days_end_like_the_day_before() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let mut events = vec![bank.open(1, &number(1)), bank.deposit(&number(1), 500)];
    bank.pass(72);
    events.push(bank.open(2, &number(2)));
    events.push(bank.transfer(&number(1), &number(2), 200));
    followed(&scratch, &bank, &events).await;
    let opened = utc_date(events[0].recorded_at);
    let range = DayRange { from: opened - 10.days(), to: opened + 5.days(), oldest_first: true };
    let days = history(&scratch.pool, &number(1), range, Page::default()).await.unwrap();
    let seen: Vec<_> = days.items.iter().map(|day| (day.day, day.ledger_balance, day.turnover_out)).collect();
    let expected: Vec<_> = (0..6)
        .map(|n| (opened + n.days(), if n < 3 { 500 } else { 300 }, if n == 3 { 200 } else { 0 }))
        .collect();
    assert_eq!((seen, days.total), (expected, 6));
    let available = |day: &crate::daily_balances::DailyBalance| day.ledger_balance + OVERDRAFT - MINIMUM;
    assert!(days.items.iter().all(|day| day.available_balance == available(day)));

    let newest = DayRange { oldest_first: false, ..range };
    let page = history(&scratch.pool, &number(1), newest, Page { page: 2, size: 4 }).await.unwrap();
    let seen: Vec<_> = page.items.iter().map(|day| day.day).collect();
    assert_eq!((seen, page.total), (vec![opened + 1.day(), opened], 6));
    let nobody = history(&scratch.pool, &number(9), range, Page::default()).await.unwrap();
    assert_eq!(nobody.total, 0);
    scratch.drop().await;
}

#[tokio::test]
async fn accounts_are_listed_with_the_balances_of_the_ledger() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let mut events = bank.history(4, 100);
    events.push(bank.freeze(&number(1)));
    followed(&scratch, &bank, &events).await;
    // Later than any read model: the ledger's row is what counts.
    scratch.execute("UPDATE ledger_accounts SET balance = 77, holds = 7 WHERE account = '1000000000'").await;
    let list = |filter: AccountFilter, sort: Sort<AccountSort>| {
        let pool = scratch.pool.clone();
        async move { accounts::of_owner(&pool, user(0), &filter, sort, Page::default()).await.unwrap() }
    };
    let both = list(AccountFilter::default(), Sort::default()).await;
    let numbers: Vec<_> = both.items.iter().map(|account| account.account_number.clone()).collect();
    assert_eq!((numbers, both.total), (vec![number(1), number(0)], 2));
    let (second, first) = (&both.items[0], &both.items[1]);
    assert_eq!((first.is_default, second.is_default), (true, false));
    assert_eq!((first.ledger_balance, first.available_balance), (77, 77 - 7 + OVERDRAFT - MINIMUM));
    assert_eq!((second.status, second.ledger_balance), (AccountStatus::Frozen, bank.balance(&number(1))));
    assert_eq!(first.interest_rate.to_string(), "4.25");
    assert_eq!(first.features, ["ONLINE_BANKING", "DEBIT_CARD"]);

    let frozen = AccountFilter { status: Some(AccountStatus::Frozen), ..AccountFilter::default() };
    assert_eq!(list(frozen, "ledgerBalance".parse().unwrap()).await.total, 1);
    let named =
        AccountFilter { q: Some("obi".into()), currency: Some("NGN".into()), ..AccountFilter::default() };
    assert_eq!(list(named, "accountName".parse().unwrap()).await.total, 2);
    assert!("owner".parse::<Sort<AccountSort>>().is_err());

    assert_eq!(accounts::owned(&scratch.pool, user(0), &number(0)).await.unwrap().as_ref(), Some(first));
    assert_eq!(accounts::owned(&scratch.pool, user(1), &number(0)).await.unwrap(), None);
    assert_eq!(accounts::find(&scratch.pool, &number(0)).await.unwrap().as_ref(), Some(first));
    assert_eq!(accounts::find(&scratch.pool, &cash()).await.unwrap(), None);
    scratch.drop().await;
}

#[tokio::test]
async fn products_show_their_latest_terms() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let events = [bank.define("A", 1), bank.define("B", 2), bank.define("A", 3)];
    followed(&scratch, &bank, &events).await;
    let all = products::all(&scratch.pool).await.unwrap();
    let seen: Vec<_> =
        all.iter().map(|p| (p.product_id.as_str(), p.minimum_deposit, p.last_position)).collect();
    assert_eq!(seen, [("A", 3, 3), ("B", 2, 2)]);
    assert_eq!(products::find(&scratch.pool, "B").await.unwrap().as_ref(), Some(&all[1]));
    assert_eq!(products::find(&scratch.pool, "C").await.unwrap(), None);
    scratch.drop().await;
}

#[tokio::test]
async fn one_index_serves_every_statement() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let events = bank.history(50, 10_000);
    followed(&scratch, &bank, &events).await;
    scratch.execute("ANALYZE statement_entries").await;
    for clause in [
        "recorded_at < '2026-02-02' AND (recorded_at, position) <= ('2026-02-03', 99999) ORDER BY recorded_at DESC, position DESC, line DESC LIMIT 1",
        "recorded_at >= '2026-02-01' AND (recorded_at, position) <= ('2026-02-03', 9999) ORDER BY recorded_at DESC, position DESC, line DESC LIMIT 20 OFFSET 20",
        "recorded_at >= '2026-02-01' AND (recorded_at, position) <= ('2026-02-03', 9999) AND (recorded_at, position, line) > ('2026-02-01 12:00', 5000, 1) ORDER BY recorded_at, position, line LIMIT 20",
    ] {
        let sql = format!(
            "EXPLAIN (FORMAT JSON) SELECT balance FROM statement_entries WHERE account_number = '1000000003' AND {clause}"
        );
        let plan: serde_json::Value = scratch.value(&sql).await;
        let node = &plan[0]["Plan"]["Plans"][0];
        assert_eq!(node["Node Type"], "Index Scan", "{plan:#}");
        assert_eq!(node["Filter"], serde_json::Value::Null, "all of it is in the index condition: {plan:#}");
    }
    scratch.drop().await;
}
