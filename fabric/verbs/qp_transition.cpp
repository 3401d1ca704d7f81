// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/qp_transition.hpp"

#include <array>

namespace fabric::verbs {
namespace {

struct Step {
    ibv_qp_state from;
    ibv_qp_state to;
    int required;
    int optional;
};

constexpr int kPort = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kMigration = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int kSending = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | kMigration;

constexpr std::array kSteps = {
    Step{IBV_QPS_RESET, IBV_QPS_INIT, kPort, 0},
    Step{IBV_QPS_INIT, IBV_QPS_INIT, 0, kPort},
    Step{IBV_QPS_INIT, IBV_QPS_RTR,
         IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER,
         IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    Step{IBV_QPS_RTR, IBV_QPS_RTS,
         IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         kSending},
    Step{IBV_QPS_RTS, IBV_QPS_RTS, 0, kSending},
    Step{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    Step{IBV_QPS_SQD, IBV_QPS_RTS, 0, kSending},
    Step{IBV_QPS_SQD, IBV_QPS_SQD, 0,
         kPort | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
             IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
             kMigration},
};

}  // namespace

bool transition_allowed(ibv_qp_state from, ibv_qp_state to, int mask) {
    const int named = mask & ~IBV_QP_STATE;
    if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET))
        return named == 0;
    for (const Step& step : kSteps)
        if (step.from == from && step.to == to)
            return (named & step.required) == step.required &&
                   (named & ~(step.required | step.optional)) == 0;
    return false;
}

}  // namespace fabric::verbs
