//! The faults and attacks that the bank is tried with: what does it, how often, and who is found out by the same detector.
//!
//! One table for both runs. `cargo test` does what `usual` says; `just torture` does the rows that have a `scale` again, that many
//! times as often (`TEST_SCALE`), and whatever is too long for every day, which is `#[ignore]`d. A unit test is named after its
//! crate, and is repeated by `PROPTEST_CASES`. That every name here is that of a test is a test.
//!
//! After each fault the invariants of [`invariants`](crate::support::invariants) hold. Every detector has a control: somebody who
//! does it wrong and is found out.
//!
//! There are no failpoints in the product. The proxy between the bank and its store
//! ([`proxy`](crate::support::proxy)) cuts, holds and fails at every message and statement of the wire, which is where a step of
//! a write begins and ends: between two of them nothing is done that would outlive the process, so that a point in between is
//! no other fault. A handler is dropped at each of its awaits from outside, and processes are killed at moments of chance.

/// A fault or an attack.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its number in the catalogue.
    pub id: &'static str,
    pub what: &'static str,
    /// What a usual run does of it; nothing, when it is left to `just torture`.
    pub usual: &'static str,
    /// So many times as often in `just torture`; zero when the usual run is all there is to it.
    pub scale: u32,
    pub tests: &'static [&'static str],
    /// The tests that show that it would be noticed, unless the test itself does.
    pub controls: &'static [&'static str],
    /// Why there is no other control.
    pub uncontrolled: &'static str,
}

const fn row(id: &'static str, what: &'static str, usual: &'static str, scale: u32) -> Row {
    Row { id, what, usual, scale, tests: &[], controls: &[], uncontrolled: "" }
}

impl Row {
    const fn by(self, tests: &'static [&'static str]) -> Self {
        Self { tests, ..self }
    }

    const fn against(self, controls: &'static [&'static str]) -> Self {
        Self { controls, ..self }
    }

    /// The control is a part of the tests, or they compare with what somebody else has made.
    const fn because(self, uncontrolled: &'static str) -> Self {
        Self { uncontrolled, ..self }
    }
}

/// Whatever breaks an invariant is named by the checker that all rows share.
const CHECKER: &[&str] = &[
    "controls::every_invariant_that_is_broken_by_hand_is_named",
    "controls::a_debit_that_the_ledger_never_saw_is_named",
    "controls::what_was_acknowledged_and_what_is_in_the_log_are_held_against_each_other",
];

pub const ROWS: &[Row] = &[
    row("T0", "the checker itself", "13 questions", 0)
        .by(&["controls::every_question_of_the_checker_has_a_control"])
        .against(CHECKER),
    row("T1", "payments and reads mixed, 16 clients", "1,000 operations", 200)
        .by(&["torture::workload::a_bank_at_work_is_right_at_every_moment"])
        .because("sums taken account by account must be wrong now and then, in the same test"),
    row("T2", "kill -9 of the server under load", "20 kills", 25)
        .by(&["kills::what_was_acknowledged_survives_the_death_of_the_server"])
        .against(&["kills::a_server_that_acknowledges_before_it_commits_is_found_out"]),
    row("T3", "kill -9 of the whole Postgres under load", "5 kills", 30)
        .by(&["kills::what_was_acknowledged_survives_the_death_of_postgres"])
        .because("T5"),
    row("T5", "control of T3: a Postgres that forgets", "up to 5 kills", 15)
        .by(&["kills::a_postgres_that_does_not_wait_for_its_disk_is_found_out"])
        .because("it is one: with synchronous_commit = off it must be red"),
    row("T6", "connection cut at COMMIT, before or after the server has it", "100 commits", 20)
        .by(&[
            "faults::a_commit_that_is_not_answered_is_resolved_and_not_guessed",
            "faults::connections_cut_at_any_moment_lose_and_double_nothing",
        ])
        .against(&["faults::a_bank_that_guesses_what_became_of_a_commit_is_found_out"]),
    row("T7", "server and database apart: silence, resets, delays", "", 50)
        .by(&[
            "torture::apart::a_server_and_its_database_that_were_apart_go_on_within_seconds",
            "monitor::a_look_that_is_cut_off_anywhere_is_no_breach",
        ])
        .against(CHECKER),
    row("T8", "an app hangs up at every byte of a payment", "", 64)
        .by(&["torture::hang_up::an_app_that_hangs_up_anywhere_has_paid_once_or_not_at_all"])
        .against(&["dropped::a_handler_that_writes_in_two_steps_is_found_out"]),
    row("T9", "the n-th statement fails, or its message is lost", "every write, every other n to 6, one of 4 errors each", 4)
        .by(&[
            "faults::whichever_statement_fails_a_write_is_done_once_or_not_at_all",
            "faults::nor_does_it_matter_how_much_the_server_knew",
            "faults::whichever_message_to_the_store_is_lost_nothing_is_half_done",
        ])
        .against(&["faults::a_bank_that_writes_in_two_transactions_is_found_out"]),
    row("T11", "the handler is dropped at every await", "every write and read, one await of three", 0)
        .by(&[
            "dropped::a_handler_that_is_dropped_at_any_await_has_done_all_or_nothing",
            "dropped::a_handler_of_a_server_that_has_just_started_too",
        ])
        .against(&[
            "dropped::a_handler_that_writes_in_two_steps_is_found_out",
            "dropped::a_transaction_that_is_dropped_while_it_begins_is_found_in_its_pool",
        ]),
    row("T13", "six clients, one key, at once, at two servers", "5,000 keys; 150 over HTTP", 4)
        .by(&[
            "races::same_key::six_clients_with_one_key_make_one_payment_whichever_servers_they_ask",
            "races::same_key::six_apps_with_one_key_are_answered_in_the_same_words",
        ])
        .against(&[
            "races::same_key::a_bank_that_looks_before_it_pays_is_found_out",
            "races::same_key::a_bank_that_forgets_its_keys_is_found_out",
        ]),
    row("T14", "a key comes again with another body, user or route", "50 keys", 100)
        .by(&["races::reused_key::a_key_means_one_request_of_one_caller_on_one_route"])
        .against(&["races::same_key::a_bank_that_forgets_its_keys_is_found_out"]),
    row("T17", "double spend: 8 racers at two servers, money for some", "500 races", 0)
        .by(&["races::double_spend::eight_racers_spend_what_there_is_and_no_more"])
        .against(&["races::double_spend::racers_who_look_at_the_balance_before_they_spend_are_found_out"]),
    row("T18", "16 racers for what is left of a limit", "40 races", 125)
        .by(&["races::limits::sixteen_racers_spend_what_a_limit_leaves_and_no_more"])
        .because("exactly as many as the limit covers must get through, neither more nor fewer"),
    row("T19", "A pays B while B pays A, at two servers", "20,480 transfers", 3)
        .by(&["races::crossing::transfers_in_opposite_directions_neither_wait_for_each_other_nor_lose_anything"])
        .against(&["races::crossing::writers_who_lock_one_account_after_the_other_are_found_out"]),
    row("T21", "reversals, disputes and spending of one payment at once", "23 races, of up to 16", 30)
        .by(&[
            "reversals::of_many_who_reverse_at_once_one_does",
            "reversals::a_payee_who_spends_while_it_is_taken_back_does_one_or_the_other",
            "disputes::of_a_dispute_and_a_reversal_at_once_one_happens",
            "disputes::of_a_decision_and_a_withdrawal_at_once_one_happens",
        ])
        .against(&["reference_model::a_reference_with_a_wrong_rule_is_found_out"]),
    row("T23", "two writers, one commits slowly, a follower by position", "20,480 events", 5)
        .by(&["races::slow_commit::a_follower_by_position_misses_nothing_however_slowly_one_server_commits"])
        .against(&["races::slow_commit::a_follower_of_a_log_numbered_by_a_sequence_is_found_to_miss_events"]),
    row("T25", "an event that cannot be read", "15 ways", 0)
        .by(&[
            "torture::poison::whatever_is_wrong_with_an_event_only_the_model_that_needs_it_stops",
            "read_side::rows_that_cannot_take_an_event_are_parked_and_only_their_holder_is_refused",
            "read_side::an_event_that_this_version_does_not_know_stops_no_payment",
        ])
        .because("the model must be parked each time, and not be once the event is mended"),
    row("T26", "a read model is slow", "", 5)
        .by(&["torture::read_models::a_read_model_that_is_slow_holds_no_payment_up_and_loses_nothing"])
        .against(CHECKER),
    row("T27", "the leader of the read models changes all the time", "taken over once", 5)
        .by(&[
            "torture::read_models::read_models_whose_leader_changes_all_the_time_take_every_event_once",
            "read_side::one_of_two_servers_runs_the_models_and_the_other_takes_over",
        ])
        .against(CHECKER),
    row("T28", "read models are rebuilt under load, and the rebuild killed", "60,000 events", 2)
        .by(&[
            "rebuilds::a_rebuild_under_load_is_killed_goes_on_and_no_request_fails",
            "read_side::read_models_are_rebuilt_while_the_bank_is_at_work",
        ])
        .against(&["audit::a_read_model_edited_by_hand_is_found_and_mended_by_a_rebuild"]),
    row("T29", "every version of every event ever written", "all", 0)
        .by(&[
            "domain::fixtures::every_fixture_ever_written_loads",
            "domain::fixtures::the_independent_reader_loads_them_too",
        ])
        .against(&["domain::fixtures::every_event_is_written_as_its_fixture_says"]),
    row("T30", "the disk of the database is full", "", 7)
        .by(&["torture::disk_full::a_bank_whose_disk_is_full_says_so_and_goes_on_when_there_is_room"])
        .against(CHECKER),
    row("T32", "no connection to be had", "", 5)
        .by(&["torture::apart::who_finds_no_free_connection_is_told_to_come_back"])
        .because("without connections every read must be turned away, or they were not taken"),
    row("T33", "the clock of one of two servers goes back, and forward", "1,000 payments", 10)
        .by(&["races::clocks::whatever_its_clock_says_a_server_writes_no_past"])
        .against(&["controls::every_invariant_that_is_broken_by_hand_is_named"]),
    row("T34", "random commands against a bank that fits on a page", "30 sequences of 50", 20)
        .by(&["reference_model::the_bank_and_the_reference_agree"])
        .against(&["reference_model::a_reference_with_a_wrong_rule_is_found_out"]),
    row("T35", "a simulated bank with everything going wrong", "90 days, and 12 days twice", 30)
        .by(&[
            "sim::a_seed_makes_the_same_log_in_two_processes",
            "commands::sim::a_month_with_everything_going_wrong_is_a_month_like_any_other",
        ])
        .against(&["commands::sim::a_bank_that_is_broken_is_found_out"]),
    row("T36", "lists are filtered and paged while they grow", "30 walks", 50)
        .by(&["transactions::walks::a_walk_over_a_list_that_grows_sees_each_row_once"])
        .because("who walks without an end to it must see a row twice, in the same test"),
    row("T38", "calendars", "31 days x 132 months; random ones", 8)
        .by(&[
            "domain::kernel::days_follow_each_other_at_the_distance_of_the_frequency",
            "domain::kernel::from_wherever_one_asks_it_is_the_same_series",
            "domain::kernel::nothing_lies_outside_the_bounds",
            "recurrences::month_ends_keep_their_day_over_a_leap_year",
        ])
        .because("the table of days is counted by hand"),
    row("T39", "due days, by servers that are killed and were away", "720 due days", 7)
        .by(&[
            "schedule::each_due_day_is_executed_once_by_processes_that_are_killed",
            "schedule::each_due_day_is_executed_once_by_servers_that_die_and_were_away",
        ])
        .because("the days are compared with a list that is counted, not computed by the bank"),
    row("T40", "schedules of loans", "256 random ones, and vectors", 40)
        .by(&[
            "domain::loans::a_schedule_pays_the_principal_and_nothing_is_negative",
            "domain::loans::the_affordable_amount_is_the_largest",
            "loans::the_calculator_says_what_the_vectors_say_row_by_row",
        ])
        .because("the vectors were computed elsewhere"),
    row("T41", "sums at the edges of 64 bits", "256 of each", 400)
        .by(&[
            "domain::ledger::at_the_edges_a_balance_is_exact_or_untouched",
            "domain::kernel::a_sum_is_exact_or_refused",
            "domain::ledger::a_balance_never_wraps",
        ])
        .because("every result is compared with arithmetic in 128 bits"),
    row("T42", "every operation by a stranger, without a token, without the permission", "every operation", 0)
        .by(&[
            "ratchet::without_a_good_token_nobody_gets_in_and_all_are_told_the_same",
            "ratchet::without_the_permission_it_is_denied_by_name",
            "ratchet::what_is_a_strangers_is_answered_like_what_does_not_exist",
        ])
        .against(&[
            "ratchet::rows_routes_and_document_are_one_set",
            "ratchet::every_operation_works_for_those_who_may_and_answers_as_documented",
        ]),
    row("T43", "somebody else's identity in the body", "every body that has one", 0)
        .by(&["devices::a_strangers_device_is_answered_like_none_and_nobody_speaks_for_another"])
        .against(&["ratchet::every_operation_works_for_those_who_may_and_answers_as_documented"]),
    row("T44", "every field that any body knows, in every body", "every operation", 0)
        .by(&[
            "canary::a_field_that_is_not_asked_for_changes_nothing",
            "bodies::fields_that_nobody_knows_change_nothing",
        ])
        .against(&["canary::a_secret_that_is_logged_or_stored_on_purpose_is_found"]),
    row("T45", "forged access tokens", "every header and claim", 0)
        .by(&[
            "api::auth::the_algorithm_cannot_be_chosen_by_the_sender",
            "api::auth::every_header_and_claim_must_be_ours",
            "api::auth::a_key_in_the_header_is_not_looked_at",
            "api::auth::a_token_of_the_future_is_not_good_yet",
        ])
        .against(&["api::auth::a_token_says_who_may_do_what_until_when"]),
    row("T46", "refresh tokens that come back, from elsewhere, forged", "each way", 0)
        .by(&[
            "sessions::an_old_refresh_token_that_comes_back_ends_the_session",
            "sessions::a_current_refresh_token_from_another_device_ends_the_session",
            "sessions::forged_refresh_tokens_are_all_refused_alike_and_end_nothing",
            "two_servers::a_refresh_token_presented_at_two_servers_at_once_has_one_successor",
        ])
        .against(&["sessions::a_refresh_token_is_good_once"]),
    row("T47", "logins with certificates that are not good, or not one's own", "each way", 0)
        .by(&[
            "devices::attacks::an_assertion_is_for_one_request_whichever_server_gets_it",
            "devices::attacks::a_certificate_is_good_to_its_last_second",
            "certificates::a_revoked_certificate_a_blocked_device_and_a_stranger_are_not_let_in",
        ])
        .against(&["certificates::a_device_logs_in_with_its_certificate_and_each_proof_is_good_once"]),
    row("T48", "who exists, by the time that a login takes", "by the work that is done", 20)
        .by(&[
            "torture::timing::a_wrong_login_takes_as_long_for_somebody_as_for_nobody",
            "sessions::an_unknown_user_and_a_wrong_password_are_answered_alike",
        ])
        .because("the same numbers with one of them a fourth sooner must be told apart"),
    row("T49", "a crowd that guesses a PIN or a code", "crowds at two servers", 25)
        .by(&[
            "devices::pins::a_crowd_of_guesses_at_two_servers_is_five_guesses",
            "mfa::of_many_codes_at_once_no_more_than_five_are_looked_at",
        ])
        .against(&["devices::pins::a_pin_is_set_changed_and_set_anew"]),
    row("T50", "unique secrets through every operation", "every operation; every table, log and span", 0)
        .by(&["canary::no_secret_is_in_a_table_or_in_a_log"])
        .against(&["canary::a_secret_that_is_logged_or_stored_on_purpose_is_found"]),
    row("T51", "uploads that are bombs, lie, or are two things at once", "each kind once", 13)
        .by(&[
            "documents::bombs::what_is_uploaded_takes_a_bounded_room",
            "documents::only_what_a_file_says_it_is_gets_in",
            "documents::what_is_too_large_is_refused_before_it_takes_anything",
        ])
        .because("a good picture of the largest size must get in, in the same test"),
    row("T52", "whatever the OpenAPI document allows, and much that it does not (Schemathesis)", "", 20)
        .by(&["torture::outside::whatever_is_asked_the_answer_is_one_that_the_document_promises"])
        .against(&["ratchet::every_operation_works_for_those_who_may_and_answers_as_documented"]),
    row("T54", "mutated tokens, certificates, requests, dates, durations, money, events, files", "250 ms each", 240)
        .by(&[
            "torture::malformed::nothing_that_anybody_sends_makes_the_bank_panic",
            "torture::fuzz::nothing_that_a_fuzzer_comes_upon_makes_the_bank_panic",
            "torture::fuzz::every_reader_is_a_fuzz_target",
        ])
        .against(&[
            "torture::malformed::a_reader_that_believes_what_it_is_told_is_found_out",
            "torture::fuzz::a_reader_that_believes_what_only_a_fuzzer_would_tell_it_is_found_out",
        ]),
    row("T56", "the log or an export is tampered with by a superuser", "20 ways in each", 50)
        .by(&[
            "tampering::whatever_a_superuser_changes_is_named_by_both_checkers",
            "tampering::whatever_is_changed_in_an_export_is_named_by_both_checkers",
            "tampering::nothing_is_signed_on_top_of_a_tree_that_was_changed",
        ])
        .because("it is one: of two checkers that share no code"),
    row("T57", "read models are edited by hand", "one table", 20)
        .by(&[
            "torture::read_models::whatever_somebody_edits_in_a_read_model_is_found_and_mended",
            "audit::a_read_model_edited_by_hand_is_found_and_mended_by_a_rebuild",
        ])
        .because("it is one, of the check that all rows end with"),
    row("T59", "a person is erased", "each way once, and 4 at work", 50)
        .by(&[
            "personal_data::at_work::whoever_is_erased_while_they_write_leaves_nothing",
            "personal_data::erasure::nothing_is_left_of_whoever_was_erased",
            "personal_data::erasure::an_erasure_is_seen_by_every_server_at_once",
            "personal_data::erasure::an_old_request_is_answered_without_the_name",
            "documents::an_erased_persons_files_are_noise",
        ])
        .because("what is looked for is found before, in the same test"),
    row("T61", "a copy taken under load is restored", "", 5)
        .by(&["torture::backups::a_copy_taken_under_load_is_the_bank_at_some_moment"])
        .against(CHECKER),
    row("T62", "a migration is cut off midway", "", 4)
        .by(&["torture::migrations::a_migration_that_was_cut_off_anywhere_goes_on_where_it_was"])
        .because("the schemas are compared with those of a migration that was not"),
    row("T63", "webhooks: lost, doubled, forged, to private addresses", "20 events", 15)
        .by(&[
            "webhooks::storm::whatever_goes_wrong_everything_is_told_and_known_again",
            "webhooks::delivery::what_is_not_taken_is_tried_again_with_the_same_id_and_a_new_signature",
            "webhooks::delivery::two_servers_tell_everything_once",
            "webhooks::delivery::a_server_that_dies_before_it_has_written_down_what_it_sent_sends_it_again_under_the_same_id",
            "webhooks::delivery::a_name_that_stands_for_a_machine_of_the_banks_is_not_called",
        ])
        .against(&[
            "webhooks::storm::what_is_never_told_is_found_out",
            "webhooks::delivery::a_payment_is_told_signed_and_without_a_word_that_anybody_wrote",
        ]),
    row("T66", "a year with a server that is killed again and again", "365 days", 0)
        .by(&["year::a_year_with_a_server_that_is_killed_again_and_again_is_like_any_other"])
        .because("it is compared with a year without"),
];
