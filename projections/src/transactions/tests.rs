use super::*;

#[test]
fn what_is_final_is_told_before_what_is_open() {
    let at = Some(Timestamp::UNIX_EPOCH);
    let fresh = Fate::default();
    assert_eq!(fresh.status(), TransactionStatus::Success);
    let settled = Fate { settled_at: at, ..fresh };
    assert_eq!(settled.status(), TransactionStatus::Settled);
    let disputed = Fate { dispute_id: Some("dsp".into()), ..settled };
    assert_eq!(disputed.status(), TransactionStatus::Disputed);
    let returned = Fate { returned_at: at, ..disputed };
    assert_eq!(returned.status(), TransactionStatus::Returned);
    let reversed = Fate { reversed_by: Some("txn".into()), ..returned };
    assert_eq!(reversed.status(), TransactionStatus::Reversed);
}
