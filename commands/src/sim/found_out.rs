//! What must not be in a log is found by whoever reads it: here it is written on purpose.

use std::str::FromStr;

use bursar_domain::accounts::AccountEvent;
use bursar_domain::closures::{ClosureEvent, Completed, Requested};
use bursar_domain::communities::{
    Category, CommunityEvent, Created, Rules, WithdrawalPolicy, WithdrawalRequested,
};
use bursar_domain::kernel::{ClosureId, UserId};
use bursar_domain::users::{Erased, UserEvent};
use bursar_domain::{Amount, Currency, Event, Kind, Metadata, Recorded, StreamId};
use jiff::Timestamp;

use super::clubs::Clubs;
use super::leaving::Leaving;
use crate::journal::in_memory::InMemory;

const ACCOUNT: &str = "1000000024";

fn id<T: FromStr>(prefix: &str, n: u8) -> T {
    let id = format!("{prefix}_0192f0c1a0007000800000000000{n:04x}");
    id.parse().unwrap_or_else(|_| panic!("{id}"))
}

fn user(n: u8) -> UserId {
    id("usr", n)
}

fn recorded(kind: Kind, stream: &str, event: Event) -> Recorded {
    Recorded {
        position: 1,
        stream: StreamId::new(kind, stream),
        sequence: 1,
        recorded_at: Timestamp::UNIX_EPOCH,
        metadata: Metadata::by("test", "test"),
        event,
    }
}

/// What is found in a community of three seats, administered by user 1.
fn community(policy: WithdrawalPolicy, events: &[CommunityEvent]) -> Result<(), String> {
    let rules = Rules {
        texts: Vec::new(),
        seats: 3,
        is_private: false,
        auto_approve: true,
        contribution_amount: None,
        contribution_frequency: None,
        withdrawal_policy: policy,
    };
    let created = CommunityEvent::Created(Box::new(Created {
        admin: user(1),
        participant: id("par", 1),
        holder: user(9),
        account: ACCOUNT.into(),
        currency: Currency::NGN,
        name: "Esusu".to_owned(),
        description: None,
        category: Category::Savings,
        logo: None,
        tags: Vec::new(),
        rules,
    }));
    let mut clubs = Clubs::default();
    let stream = "com_0192f0c1a00070008000000000000001";
    for event in std::iter::once(&created).chain(events) {
        clubs.take(&recorded(Kind::Community, stream, Event::Community(event.clone())))?;
    }
    clubs.day_end()
}

#[test]
fn a_community_that_breaks_its_rules_is_found_out() {
    use WithdrawalPolicy::{AdminOnly, Majority, Rotating};
    let joined =
        |n: u8| CommunityEvent::Joined { participant: id("par", n), user: user(n), invitation: None };
    let wants = |n: u8, by: u8| {
        CommunityEvent::WithdrawalRequested(Box::new(WithdrawalRequested {
            id: id("wdr", n),
            participant: id("par", by),
            amount: Amount::try_from(500).unwrap(),
            destination: "1000000008".into(),
            narration: None,
        }))
    };
    let voted =
        |n: u8, by: u8| CommunityEvent::WithdrawalVoted { id: id("wdr", n), by: user(by), approve: true };
    let paid = |n: u8, to: u8| CommunityEvent::WithdrawalPaid {
        id: id("wdr", n),
        participant: id("par", to),
        by: id("txn", n),
    };
    assert_eq!(community(AdminOnly, &[joined(2), joined(3)]), Ok(()));
    for (policy, events, found) in [
        (AdminOnly, vec![joined(2), joined(3), joined(4)], "one too many"),
        (AdminOnly, vec![joined(2), joined(2)], "in it twice"),
        (AdminOnly, vec![paid(1, 1)], "is over"),
        (AdminOnly, vec![joined(2), wants(1, 2), paid(1, 2)], "not the admin"),
        (AdminOnly, vec![wants(1, 2), paid(1, 2)], "has left"),
        (AdminOnly, vec![wants(1, 1), paid(1, 1)], "and is not paid"),
        (Majority, vec![joined(2), wants(1, 2), voted(1, 2), voted(1, 2)], "votes twice"),
        (Majority, vec![joined(2), wants(1, 2), voted(1, 2), paid(1, 2)], "1 agree"),
        (Rotating, vec![joined(2), wants(1, 1), paid(1, 1), wants(2, 1), paid(2, 1)], "another turn"),
    ] {
        let finding = community(policy, &events).unwrap_err();
        assert!(finding.contains(found), "{finding}");
    }
}

#[test]
fn an_account_that_is_closed_and_a_person_who_is_erased_by_one_are_found_out() {
    let asked = ClosureEvent::Requested(Box::new(Requested {
        owner: user(1),
        account: ACCOUNT.into(),
        reason: "Moving away".to_owned(),
        preferred_date: None,
        transfer_account: None,
        comments: None,
    }));
    let on = |n: u8, event: &ClosureEvent| {
        let stream = id::<ClosureId>("cls", n).to_string();
        recorded(Kind::Closure, &stream, Event::Closure(event.clone()))
    };
    let approved = |by: u8| ClosureEvent::Approved { by: user(by), note: None };
    let done =
        |by: u8| ClosureEvent::Completed(Box::new(Completed { by: user(by), note: None, swept: None }));
    let closed = |closure_id: Option<ClosureId>| {
        recorded(Kind::Account, ACCOUNT, Event::Account(AccountEvent::Closed { closure_id }))
    };
    let erased = |by: u8| {
        let erased = UserEvent::Erased(Box::new(Erased {
            requested_by: user(2),
            approved_by: user(by),
            reason: "They asked".to_owned(),
            accounts: vec![ACCOUNT.into()],
            settled: true,
        }));
        recorded(Kind::User, &user(1).to_string(), Event::User(erased))
    };
    let applied = closed(Some(id("cls", 1)));
    let finding = |events: &[Recorded]| {
        let mut leaving = Leaving::default();
        events.iter().try_for_each(|event| leaving.take(event))?;
        leaving.day_end(&InMemory::default())
    };
    let decided = vec![on(1, &asked), on(1, &approved(2)), on(1, &done(3))];
    assert_eq!(finding(&[decided.clone(), vec![applied.clone()]].concat()), Ok(()));
    assert_eq!(finding(&[decided.clone(), vec![applied.clone(), erased(3)]].concat()), Ok(()));
    assert_eq!(finding(&[erased(3), closed(None)]), Ok(()));
    for (events, found) in [
        (vec![on(1, &asked), on(2, &asked)], "second application"),
        (vec![on(1, &asked), on(1, &approved(2)), on(1, &done(2))], "was approved by"),
        (vec![on(1, &asked), on(1, &done(2))], "was approved by"),
        (vec![on(1, &approved(2))], "is not open"),
        (vec![applied], "as nobody has decided"),
        (vec![closed(None)], "as nobody has decided"),
        (vec![erased(3)], "and it is open"),
        (decided, "and it is not"),
        (vec![erased(2)], "erased by one"),
    ] {
        let finding = finding(&events).unwrap_err();
        assert!(finding.contains(found), "{finding}");
    }
}
