//! The bank as its users see it: one binary, the real server, a real Postgres.
//!
//! # Faults and attacks
//!
//! After each of them the invariants of [`support::invariants`] hold. Each has a control: somebody who does it wrong, and
//! is found out by the same detector. `TEST_SEED=7` repeats the choices of a run that printed it, `TEST_SCALE=20` does
//! everything that is counted here twenty times as often.
//!
//! | | fault or attack | tests | how often | controls |
//! |---|---|---|---|---|
//! | | the checker itself | `controls::every_question_of_the_checker_has_a_control` | 13 questions | `controls::every_invariant_that_is_broken_by_hand_is_named`, `controls::a_debit_that_the_ledger_never_saw_is_named`, `controls::what_was_acknowledged_and_what_is_in_the_log_are_held_against_each_other` |
//! | T2 | kill -9 of the server under load | `kills::what_was_acknowledged_survives_the_death_of_the_server` | 20 kills | `kills::a_server_that_acknowledges_before_it_commits_is_found_out` |
//! | T3 | kill -9 of the whole Postgres under load | `kills::what_was_acknowledged_survives_the_death_of_postgres` | 5 kills | `kills::a_postgres_that_does_not_wait_for_its_disk_is_found_out` |
//! | T6 | connection cut at COMMIT, before or after the server has it | `faults::a_commit_that_is_not_answered_is_resolved_and_not_guessed`, `faults::connections_cut_at_any_moment_lose_and_double_nothing` | 100 commits | `faults::a_bank_that_guesses_what_became_of_a_commit_is_found_out` |
//! | T9 | the n-th statement fails, or its message is lost | `faults::whichever_statement_fails_a_write_is_done_once_or_not_at_all`, `faults::nor_does_it_matter_how_much_the_server_knew`, `faults::whichever_message_to_the_store_is_lost_nothing_is_half_done` | every write, every other n to 6, one of 4 errors each; cold, n to 24 | `faults::a_bank_that_writes_in_two_transactions_is_found_out` |
//! | T11 | the handler is dropped at every await | `dropped::a_handler_that_is_dropped_at_any_await_has_done_all_or_nothing`, `dropped::a_handler_of_a_server_that_has_just_started_too` | every write, and every read with a caller, at one await of three; warm and cold | `dropped::a_handler_that_writes_in_two_steps_is_found_out`, `dropped::a_transaction_that_is_dropped_while_it_begins_is_found_in_its_pool` |
//! | T13 | six clients, one key, at once, at two servers | `races::same_key::six_clients_with_one_key_make_one_payment_whichever_servers_they_ask`, `races::same_key::six_apps_with_one_key_are_answered_in_the_same_words` | 5,000 keys; 150 over HTTP | `races::same_key::a_bank_that_looks_before_it_pays_is_found_out`, `races::same_key::a_bank_that_forgets_its_keys_is_found_out` |
//! | T17 | double spend: 8 racers at two servers, money for some | `races::double_spend::eight_racers_spend_what_there_is_and_no_more` | 500 races | `races::double_spend::racers_who_look_at_the_balance_before_they_spend_are_found_out` |
//! | T19 | A pays B while B pays A, at two servers | `races::crossing::transfers_in_opposite_directions_neither_wait_for_each_other_nor_lose_anything` | 20,480 transfers | `races::crossing::writers_who_lock_one_account_after_the_other_are_found_out` |
//! | T23 | two writers, one commits slowly, a follower by position | `races::slow_commit::a_follower_by_position_misses_nothing_however_slowly_one_server_commits` | 20,480 events | `races::slow_commit::a_follower_of_a_log_numbered_by_a_sequence_is_found_to_miss_events` |
//! | T34 | random commands against a bank that fits on a page | `reference_model::the_bank_and_the_reference_agree` | 30 sequences of 50 | `reference_model::a_reference_with_a_wrong_rule_is_found_out` (10 rules) |

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::large_futures,
    missing_docs,
    dead_code,
    reason = "tests"
)]

mod accounting;
mod accounts;
mod analysts;
mod audit;
mod banks;
mod beneficiaries;
mod billers;
mod bills;
mod bodies;
mod canary;
mod cards;
mod certificates;
mod claims;
mod clearing;
mod closures;
mod command_line;
mod communities;
mod compliance;
mod console;
mod controls;
mod costs;
mod datasets;
mod desk;
mod devices;
mod disputes;
mod documents;
mod dropped;
mod event_store;
mod events;
mod explain;
mod faults;
mod imports;
mod interest;
mod kills;
mod limits;
mod loans;
mod mandates;
mod messages;
mod mfa;
mod mixed_day;
mod monitor;
mod passwords;
mod payment_exports;
mod payments;
mod permissions;
mod personal_data;
mod products;
mod proof;
mod protocol;
mod races;
mod ratchet;
mod read_side;
mod rebuilds;
mod receipts;
mod recurrences;
mod reference;
mod reference_model;
mod reversals;
mod sandbox;
mod savings;
mod schedule;
mod sessions;
mod statement_formats;
mod statements;
mod support;
mod tags;
mod tampering;
mod time_travel;
mod transactions;
mod two_servers;
mod users;
mod versions;
mod webhooks;
mod year;
