use super::*;
use crate::aggregate::given::given;

fn order(verify: bool) -> Ordered {
    let (by, at) = ("usr_0192f0c1a0007000800000000000000a".parse(), "2026-03-01T08:00:00Z".parse());
    Ordered { by: by.unwrap(), at: at.unwrap(), verify }
}

fn ordered(verify: bool) -> RebuildEvent {
    RebuildEvent::Ordered(order(verify))
}

fn asked(verify: bool, is_running: bool) -> RebuildCommand {
    RebuildCommand::Order { order: order(verify), is_running }
}

#[test]
fn a_read_model_is_rebuilt_as_often_as_somebody_wants() {
    given::<Rebuild>(&[]).when(asked(true, false)).then(&[ordered(true)]);
    given::<Rebuild>(&[ordered(true)]).when(asked(false, false)).then(&[ordered(false)]);
}

#[test]
fn one_at_a_time() {
    given::<Rebuild>(&[ordered(true)]).when(asked(false, true)).then_refused("REBUILD_RUNNING");
}
