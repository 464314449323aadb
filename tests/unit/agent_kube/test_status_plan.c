/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/status_plan.h"

#define TOO_LARGE "etcdserver: request is too large"

static const struct {
    enum status_write write;
    int status;
    const char *message;
    enum status_amount amount;
    bool read_first;
    enum status_step step;
} patches[] = {
    {STATUS_WRITE_RESULT, 200, "", STATUS_WHOLE, false, STATUS_STEP_WRITTEN},
    {STATUS_WRITE_RESULT, 404, "", STATUS_WHOLE, false, STATUS_STEP_GONE},
    {STATUS_WRITE_RESULT, 410, "", STATUS_WHOLE, false, STATUS_STEP_GONE},
    {STATUS_WRITE_RESULT, 409, "", STATUS_WHOLE, false, STATUS_STEP_READ},
    {STATUS_WRITE_RESULT, 409, "", STATUS_WHOLE, true, STATUS_STEP_READ},
    {STATUS_WRITE_RUNNING, 409, "", STATUS_WHOLE, false, STATUS_STEP_READ},
    {STATUS_WRITE_GIVE_BACK, 409, "", STATUS_WHOLE, false, STATUS_STEP_READ},
    /* Too large, in each of its ways. */
    {STATUS_WRITE_RESULT, 413, "", STATUS_WHOLE, false, STATUS_STEP_SHRINK},
    {STATUS_WRITE_RESULT, 500, TOO_LARGE, STATUS_WHOLE, false, STATUS_STEP_SHRINK},
    {STATUS_WRITE_RESULT, 500, TOO_LARGE, STATUS_SMALL, true, STATUS_STEP_SHRINK},
    {STATUS_WRITE_RESULT, 500, TOO_LARGE, STATUS_NO_STREAMS, true, STATUS_STEP_SHRINK},
    {STATUS_WRITE_RESULT, 500, TOO_LARGE, STATUS_BARE, true, STATUS_STEP_RETRY},
    {STATUS_WRITE_GIVE_BACK, 413, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
    {STATUS_WRITE_RUNNING, 413, "", STATUS_WHOLE, false, STATUS_STEP_TOO_LATE},
    /* Invalid: is it over, or is it our fault? */
    {STATUS_WRITE_RESULT, 422, "", STATUS_WHOLE, false, STATUS_STEP_READ},
    {STATUS_WRITE_RESULT, 422, "", STATUS_WHOLE, true, STATUS_STEP_SHRINK},
    {STATUS_WRITE_RESULT, 400, "", STATUS_SMALL, true, STATUS_STEP_SHRINK},
    {STATUS_WRITE_RESULT, 422, "", STATUS_BARE, true, STATUS_STEP_RETRY},
    {STATUS_WRITE_RUNNING, 422, "", STATUS_WHOLE, true, STATUS_STEP_TOO_LATE},
    {STATUS_WRITE_GIVE_BACK, 422, "", STATUS_WHOLE, true, STATUS_STEP_RETRY},
    /* What passes by itself, or by an administrator's hand. */
    {STATUS_WRITE_RESULT, 0, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, 401, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, 403, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, 429, "", STATUS_WHOLE, true, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, 500, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, 503, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
    {STATUS_WRITE_RUNNING, 503, "", STATUS_WHOLE, false, STATUS_STEP_RETRY},
};

static void test_after_patch(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(patches); i++)
        assert_int_equal(status_after_patch(patches[i].write, patches[i].status, patches[i].message,
                                            patches[i].amount, patches[i].read_first),
                         patches[i].step);
}

#define SEEN .http_status = 200, .readable = true

static const struct {
    enum status_write write;
    struct status_view view;
    enum status_step step;
} views[] = {
    {STATUS_WRITE_RESULT,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_RUNNING},
     STATUS_STEP_PATCH},
    {STATUS_WRITE_RESULT,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_SCHEDULED},
     STATUS_STEP_PATCH},
    {STATUS_WRITE_RESULT,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_FAILED},
     STATUS_STEP_TOO_LATE},
    {STATUS_WRITE_RESULT,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_SUCCEEDED},
     STATUS_STEP_TOO_LATE},
    {STATUS_WRITE_RESULT,
     {SEEN, .same_uid = true, .phase = RUN_PHASE_SCHEDULED},
     STATUS_STEP_TOO_LATE},
    {STATUS_WRITE_RESULT,
     {SEEN, .same_sandbox = true, .phase = RUN_PHASE_RUNNING},
     STATUS_STEP_GONE},
    {STATUS_WRITE_RUNNING,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_SCHEDULED},
     STATUS_STEP_PATCH},
    {STATUS_WRITE_RUNNING,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_RUNNING},
     STATUS_STEP_TOO_LATE},
    {STATUS_WRITE_GIVE_BACK,
     {SEEN, .same_uid = true, .same_sandbox = true, .phase = RUN_PHASE_SCHEDULED},
     STATUS_STEP_PATCH},
    {STATUS_WRITE_GIVE_BACK,
     {SEEN, .same_uid = true, .phase = RUN_PHASE_PENDING},
     STATUS_STEP_TOO_LATE},
    {STATUS_WRITE_RESULT, {.http_status = 404}, STATUS_STEP_GONE},
    {STATUS_WRITE_RESULT, {.http_status = 410}, STATUS_STEP_GONE},
    {STATUS_WRITE_RESULT, {.http_status = 0}, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, {.http_status = 403}, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, {.http_status = 503}, STATUS_STEP_RETRY},
    {STATUS_WRITE_RESULT, {.http_status = 200, .same_uid = true}, STATUS_STEP_PATCH},
    {STATUS_WRITE_RESULT, {.http_status = 200}, STATUS_STEP_GONE},
};

static void test_after_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(views); i++)
        assert_int_equal(status_after_read(views[i].write, &views[i].view), views[i].step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_after_patch),
        cmocka_unit_test(test_after_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
