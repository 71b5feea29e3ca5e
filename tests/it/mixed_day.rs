//! A day of payments of every kind, over HTTP: afterwards every unit is explained.

use std::collections::BTreeSet;

use bursar_commands::audit;
use bursar_domain::codec::Codec;
use serde_json::{Value, json};

use crate::support::chance::Chance;
use crate::support::client::Answer;
use crate::support::{Bank, Person};

/// How the numbers end that the sandbox's rail settles, refuses, returns, answers late, and settles at once.
const ENDS: [&str; 6] = ["6789", "0001", "0002", "0003", "0004", "0005"];
const HOURS: u64 = 24;
const AN_HOUR: u64 = 8;

struct Day {
    bank: Bank,
    people: [Person; 3],
    staff: Person,
    chance: Chance,
    /// What was made, with whoever paid.
    made: Vec<(usize, String)>,
    /// What was answered 201 or 200, by what was asked.
    done: BTreeSet<&'static str>,
}

impl Day {
    async fn new() -> Self {
        let bank = Bank::open().await;
        let people = [bank.ada().await, bank.bola().await, bank.chidi().await];
        let staff = bank.teller().await;
        Self { bank, people, staff, chance: Chance::of(4), made: Vec::new(), done: BTreeSet::new() }
    }

    fn note(&mut self, payer: usize, what: &'static str, answer: &Answer) {
        // A refusal is an answer, too; nothing else is.
        assert!([200, 201, 403, 409, 422].contains(&answer.status), "{what}: {}", answer.text);
        if answer.status < 300 {
            self.done.insert(what);
            if let Some(id) = answer.body["transactionId"].as_str() {
                self.made.push((payer, id.to_owned()));
            }
        }
    }

    /// Somebody pays, or is paid.
    async fn pay(&mut self) {
        let payer = self.chance.one_of(&[0, 1, 2]);
        let (me, other) = (&self.people[payer], &self.people[(payer + 1) % 3]);
        let (me, other) = (me.clone(), other.clone());
        let amount = i64::try_from(self.chance.between(5_000, 900_000)).unwrap();
        let end = self.chance.one_of(&ENDS);
        let with = |more: Value| {
            let mut body = json!({"amount": amount, "currency": "NGN", "narration": "Mixed <day>"});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        let own = json!({"sourceAccount": me.current});
        let from = |more: Value| {
            let mut body = with(own.clone());
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        let teller = |what: &str| format!("/v1/staff/accounts/{}/{what}", me.current);
        let pays = "/v1/payments/";
        let (what, path, body) = match self.chance.between(0, 8) {
            0 => (
                "internal",
                format!("{pays}transfer/internal"),
                from(json!({"destinationAccount": other.current})),
            ),
            1 => ("self", format!("{pays}transfer/self"), from(json!({"destinationAccount": me.savings}))),
            2 => (
                "external",
                format!("{pays}transfer/external"),
                from(json!({"destinationAccount": format!("012345{end}"), "bankCode": "058"})),
            ),
            3 => (
                "wallet",
                format!("{pays}transfer/mwallet"),
                from(json!({"phoneNumber": format!("+234803111{end}"), "walletProvider": "MTN_MOMO"})),
            ),
            4 => (
                "bill",
                format!("{pays}bills"),
                from(
                    json!({"billerId": "SBX_TV_SKYVIEW", "accountNumber": format!("123456{end}"), "amount": 440_000}),
                ),
            ),
            5 => {
                let phone = format!("+2348031000{}", 101 + payer);
                let to = json!({"phoneNumber": phone, "walletProvider": "MTN_MOMO", "destinationAccount": me.current});
                ("funding", format!("{pays}fund/via/mwallet"), with(to))
            }
            6 => ("deposit", teller("deposit"), with(json!({}))),
            7 => ("withdrawal", teller("withdraw"), with(json!({}))),
            _ => return self.undo().await,
        };
        let client = if path.contains("/staff/") { &self.staff.client } else { &me.client };
        let answer = client.post(&path, &body).await;
        self.note(payer, what, &answer);
    }

    /// Somebody wants money back.
    async fn undo(&mut self) {
        let Some((payer, id)) = self.made.pop() else { return };
        let client = self.people[payer].client.clone();
        if self.chance.one_of(&[true, false]) {
            let answer =
                client.post(&format!("/v1/transactions/{id}/reverse"), &json!({"reason": "Mistake"})).await;
            return self.note(payer, "reversal", &answer);
        }
        let body = json!({"disputeReason": "OTHER", "description": "Twice", "disputeAmount": 1_000});
        let answer = client.post(&format!("/v1/transactions/{id}/dispute"), &body).await;
        self.note(payer, "dispute", &answer);
        let Some(dispute) = answer.body["disputeId"].as_str() else { return };
        let approver = self.bank.approver().await.client;
        let path = format!("/v1/staff/disputes/{dispute}");
        approver.post(&format!("{path}/start-review"), &json!({})).await.is(200);
        let outcome = self.chance.one_of(&["WON", "LOST"]);
        let answer =
            approver.post(&format!("{path}/resolve"), &json!({"outcome": outcome, "note": "So be it"})).await;
        self.note(payer, outcome, &answer);
    }

    /// Everything is explained: balances by the log, settlement accounts by what is on its way.
    async fn check(&self) {
        let report = audit::replay(&self.bank.pool, &Codec::default(), &mut |_, _| {}).await.unwrap();
        assert_eq!(report.difference.map(|difference| difference.to_string()), None);
        for (currency, lines) in report.trial_balance {
            assert_eq!(lines.values().sum::<i128>(), 0, "{currency}: {lines:?}");
        }
    }

    /// What is in each settlement account.
    async fn open(&self) -> Vec<(String, i64)> {
        let sql = "SELECT account, balance FROM ledger_accounts WHERE account LIKE 'bank:settlement.%' AND balance <> 0";
        sqlx::query_as(sql).fetch_all(&self.bank.pool).await.unwrap()
    }
}

#[tokio::test]
async fn a_day_of_mixed_payments_leaves_nothing_unexplained() {
    let mut day = Day::new().await;
    for hour in 0..HOURS {
        for _ in 0..AN_HOUR {
            day.pay().await;
        }
        if hour == HOURS / 2 {
            assert!(!day.open().await.is_empty());
            day.check().await;
        }
        // Tokens are good for a quarter of an hour.
        day.bank.later(3_600).await;
        day.people = [day.bank.ada().await, day.bank.bola().await, day.bank.chidi().await];
        day.staff = day.bank.teller().await;
    }
    let every = [
        "internal",
        "self",
        "external",
        "wallet",
        "bill",
        "funding",
        "deposit",
        "withdrawal",
        "reversal",
        "dispute",
    ];
    let missing: Vec<_> = every.iter().filter(|what| !day.done.contains(**what)).collect();
    assert!(missing.is_empty(), "nobody did {missing:?}");
    // The slowest takes a day.
    for _ in 0..3 {
        day.bank.later(25 * 3_600).await;
    }
    assert_eq!(day.open().await, []);
    day.check().await;
    day.bank.close().await;
}
