use super::*;
use crate::tests::Bank;

#[test]
fn the_latest_terms_count() {
    let mut bank = Bank::default();
    let mut model = Products::default();
    for event in [bank.define("A", 1), bank.define("B", 2), bank.define("A", 3)] {
        model.fold(&event).unwrap();
    }
    let seen: Vec<_> = model.changed.values().map(|p| (p.product_id.as_str(), p.minimum_deposit)).collect();
    assert_eq!(seen, [("A", 3), ("B", 2)]);
}
