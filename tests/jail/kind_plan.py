# SPDX-License-Identifier: Apache-2.0
"""Which of these tests are run for which kind of sandbox (helpers/kinds.py)."""

KINDS = ("cold", "fresh", "forked")
OWN_POOLS = False

# Tests that say nothing about a sandbox that has waited, by pattern, each with its reason.
NO_RUN = "it runs nothing"
NEVER_WAITS = "what it denies keeps any sandbox from waiting; tests/pool has that"
NO_POOL = "ToolCall is never pooled"
OF_ALL = "it counts what the jailer has, which with a pool is more"
OF_WAITING = {
    "test_attacks.TestCaller.test_file_systems_that_are_missing": NEVER_WAITS,
    "test_attacks.TestCaller.test_low_limits": NEVER_WAITS,
    "test_attacks.TestJailer.test_descriptors_are_never_taken": NO_RUN,
    "test_capabilities.TestExactlyThese.test_a_socket_*": "it speaks to the jailer by itself",
    "test_capabilities.TestOneLess.*": "without a right that is needed none ever waits",
    "test_capabilities.TestTheList.*": NO_RUN,
    "test_cli.TestBadInput.*": NO_RUN,
    "test_cli.TestEnds.test_a_stalled_reader_does_not_hold_up_the_deadline": OF_ALL,
    "test_cli.TestExitCodes.test_help_and_version": NO_RUN,
    "test_cli.TestExitCodes.test_usage": NO_RUN,
    "test_cli.TestPreconditions.*": NO_RUN,
    "test_cli.TestPrivilege.*": NO_RUN,
    "test_denied.TestListener.*": OF_ALL,
    "test_doctor.*": NO_RUN,
    "test_examples.TestTogether.test_there_are_examples": NO_RUN,
    "test_fallbacks.TestDoneWithout.test_the_flag_of_the_listener": NEVER_WAITS,
    "test_fallbacks.TestNeeded.*": NEVER_WAITS,
    "test_inside.TestPrograms.*": NO_RUN,
    "test_jailer_life.TestBreaches.test_start_before_created": "one that waits is there at once",
    "test_jailer_life.TestDeaths.test_one_that_starts_as_the_last_one_ends": NO_RUN,
    "test_jailer_life.TestEnds.test_requests_that_are_not_granted": NO_RUN,
    "test_jailer_life.TestLeaks.*": OF_ALL,
    "test_jailer_life.TestRoom.test_memory": OF_ALL,
    "test_jailer_life.TestStart.*": NO_RUN,
    "test_jailer_locks.*": NEVER_WAITS,
    "test_jailer_upgrade.TestTheNextOne.test_a_lock_that_is_not_roots_own_is_refused": NO_RUN,
    "test_jailer_upgrade.TestTheNextOne.test_an_agent_that_speaks_too_early_*": NO_RUN,
    "test_jailer_upgrade.TestTheNextOne.test_the_lock_is_out_of_the_agents_reach": NO_RUN,
    "test_landlock.TestLock.*": NEVER_WAITS,
    "test_network_slots.*": NO_POOL,
}
LEFT_OUT = {"fresh": OF_WAITING, "forked": OF_WAITING | {
    "test_jailer_life.TestNamespaces.test_without_the_helper_*": "what is forked needs no such helper",
}}

# What an ordinary run has of them, since it can differ from kind to kind; the rest happens behind the
# same locks and is left to the full one. Of what has waited: what was changed when a run took it, and
# what else was held meanwhile.
OF_TAKING = {
    "test_capabilities.TestExactlyThese.*": "rights that only a pool could need",
    "test_denied.TestCounts.*": "the listener is taken over long before the run",
    "test_inside.*": "every lock, as a run finds it",
    "test_jailer_life.TestDeaths.*": "what waits must go with its jailer as well",
    "test_jailer_life.TestEnds.test_[cedks]*": "its limits and its deadline were set anew",
    "test_jailer_life.TestEnds.test_out_of_memory*": "the same",
}
# Besides, of what is forked: how it is born, and by whom it is held.
OF_BIRTH = OF_TAKING | {
    "test_attacks.TestEnds.test_exit_codes_*": "who has forked it tells its end",
    "test_attacks.TestSignals.test_process_one_*": "process 1 is another program",
    "test_denied.TestEnds.*": "the filter was loaded into another program",
    "test_denied.TestKillList.*": "the same",
    "test_jailer_life.TestNamespaces.test_no_two_*": "who forks could share them",
    "test_landlock.TestInside.*": "a lock that is set on what goes on, not on a new program",
}
SHARE = {"fresh": OF_TAKING, "forked": OF_BIRTH}
