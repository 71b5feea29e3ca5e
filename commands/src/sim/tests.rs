use super::*;

fn options(seed: u64, days: u32) -> Options {
    Options { seed, days, customers: 20, operations: 24, ..Options::default() }
}

fn simulated(options: &Options) -> Result<Summary, SimError> {
    run(options, &mut |_, _| {})
}

#[test]
fn a_month_with_everything_going_wrong_is_a_month_like_any_other() {
    for seed in 1..=3 {
        let summary = simulated(&options(seed, 30)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let troubles = summary.troubles;
        assert!(summary.events > 800 && summary.operations > 500, "seed {seed}: {summary:?}");
        assert!(
            summary.refusals.values().sum::<u64>() > 20 && summary.due_work > 200,
            "seed {seed}: {summary:?}"
        );
        assert!(troubles.crashes >= 1 && troubles.lost >= 10, "seed {seed}: {troubles:?}");
        assert!(troubles.duplicates >= 50 && troubles.reordered >= 50, "seed {seed}: {troubles:?}");
        assert!(troubles.slow >= 50, "seed {seed}: {troubles:?}");
    }
}

#[test]
fn the_same_seed_makes_the_same_log_and_another_seed_another() {
    let [once, again, other] = [7, 7, 8].map(|seed| simulated(&options(seed, 10)).unwrap());
    assert_eq!(once, again);
    assert_ne!(once.root, other.root);
}

#[test]
fn nothing_goes_wrong_that_was_not_asked_for() {
    let calm = simulated(&Options { faults: Vec::new(), ..options(1, 10) }).unwrap();
    assert_eq!(calm.troubles, Troubles::default());
    let slow = simulated(&Options { faults: vec![Fault::Slow], ..options(1, 10) }).unwrap();
    assert_eq!(slow.troubles, Troubles { slow: slow.troubles.slow, ..Troubles::default() });
    assert!(slow.troubles.slow > 0);
}

#[test]
fn a_bank_that_is_broken_is_found_out() {
    for (broken, word) in [
        (Broken::ForgetsCommit, ""),
        (Broken::CommitsTwice, ""),
        (Broken::ClockBack, "recorded_at"),
        (Broken::NoDueKey, "sim.careless"),
        (Broken::NoKey, "sim-"),
    ] {
        match simulated(&Options { broken: Some(broken), ..options(1, 20) }) {
            Err(SimError::Failed(failure)) => {
                assert!(failure.finding.contains(word), "{broken}: {failure}");
            }
            other => panic!("nobody noticed {broken}: {other:?}"),
        }
    }
}

#[test]
fn people_put_money_by_close_accounts_and_leave() {
    let summary = simulated(&options(1, 150)).unwrap();
    let count = |kind: &str| summary.kinds.get(kind).copied().unwrap_or_default();
    assert!(count("account.closed") > count("closure.completed"), "nobody was erased who had one left");
    for kind in [
        "community.joined",
        "community.removed",
        "community.pledged",
        "community.withdrawal_paid",
        "devices.blocked",
        "closure.rejected",
        "account.closed",
        "user.erased",
    ] {
        assert!(summary.kinds.contains_key(kind), "no {kind}: {:?}", summary.kinds);
    }
}
