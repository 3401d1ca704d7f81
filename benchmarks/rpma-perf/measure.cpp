// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <thread>

#include "error.hpp"
#include "load.hpp"
#include "stop_signal.hpp"

namespace perf {
namespace {

constexpr std::uint64_t kTickNs = 50'000'000;

std::uint64_t ns_of(double seconds) {
    return static_cast<std::uint64_t>(seconds * 1e9);
}

// The threads of one run and the clock around them.
class Measurement {
public:
    Measurement(const Control& control, const Case& point, const Timing& timing,
                const Client::Watch& watch, Load& load)
        : control_(control),
          timing_(timing),
          watch_(watch),
          run_control_((timing.operations + point.threads - 1) / point.threads, point.threads),
          results_(point.threads) {
        for (unsigned i = 0; i < point.threads; i++) {
            threads_.emplace_back([this, &load, i] { run_thread(load, i); });
        }
    }
    Measurement(const Measurement&) = delete;
    Measurement& operator=(const Measurement&) = delete;
    ~Measurement() { end(); }

    // The run without its CPU times if the server has gone.
    Run go() {
        started_ns_ = now_ns();
        if (wait_until(started_ns_ + ns_of(timing_.warm_up_s))) {
            take_times(begin_);
            run_control_.set_phase(Phase::measure);
            const std::uint64_t end =
                timing_.operations != 0 ? ~std::uint64_t{0} : now_ns() + ns_of(timing_.duration_s);
            complete_ = wait_until(end) && wait_first();
        }
        run_control_.set_phase(Phase::stop);
        take_times(end_);
        end();
        return collect();
    }

    void merge_latency(Histogram& into) const {
        for (const ThreadResult& result : results_) {
            into.merge(result.latency);
        }
    }
    [[nodiscard]] const std::string& failure() const { return failure_; }

private:
    struct Times {
        std::uint64_t wall_ns = 0;
        CpuTime own;
        CpuTime target;
    };

    void run_thread(Load& load, unsigned index) {
        load.run(index, run_control_, results_[index]);
        if (!results_[index].failure.empty()) {
            run_control_.set_phase(Phase::stop);
        }
        run_control_.thread_ends();
    }

    // True at that time, or when all threads have done their part; false if the run must end early.
    bool wait_until(std::uint64_t end) {
        for (std::uint64_t now = now_ns(); now < end; now = now_ns()) {
            if (run_control_.wait_ended(std::min(end - now, kTickNs))) {
                return !any_failed();
            }
            if (control_.socket().is_gone()) {
                failure_ = "the server has gone";
            }
            if (!failure_.empty() || stop_requested()) {
                return false;
            }
            watch_(sum(&ThreadResult::done), seconds(now_ns() - started_ns_));
        }
        return true;
    }

    // A run without a single operation would tell nothing; one that never comes is a failure.
    bool wait_first() {
        while (sum(&ThreadResult::operations) == 0) {
            if (!wait_until(now_ns() + kTickNs) || run_control_.wait_ended(0)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::uint64_t sum(Counter ThreadResult::*counter) const {
        std::uint64_t out = 0;
        for (const ThreadResult& result : results_) {
            out += (result.*counter).get();
        }
        return out;
    }

    // Only while no thread runs any more.
    bool any_failed() {
        for (const ThreadResult& result : results_) {
            if (!result.failure.empty() && failure_.empty()) {
                failure_ = result.failure;
            }
        }
        return !failure_.empty();
    }

    void take_times(Times& times) {
        times.wall_ns = now_ns();
        times.own = own_cpu_time();
        if (!failure_.empty()) {
            return;
        }
        try {
            times.target = control_.ask({{"do", request::kCpu}}).get<CpuTime>();
        } catch (const Error& error) {
            failure_ = error.what();
        }
    }

    void end() {
        run_control_.set_phase(Phase::stop);
        for (std::thread& thread : threads_) {
            thread.join();
        }
        threads_.clear();
        (void)any_failed();
    }

    [[nodiscard]] Run collect() const {
        Run run;
        Histogram latency;
        std::uint64_t begin = ~std::uint64_t{0};
        std::uint64_t end = 0;
        for (const ThreadResult& result : results_) {
            run.operations += result.operations.get();
            run.verified.add(result.verified);
            latency.merge(result.latency);
            if (result.begin_ns != 0) {
                begin = std::min(begin, result.begin_ns);
                end = std::max(end, result.end_ns);
            }
        }
        run.seconds = end > begin ? seconds(end - begin) : 0;
        run.latency = summary_of(latency);
        if (begin_.wall_ns != 0 && failure_.empty()) {
            run.cpu_seconds = seconds(end_.wall_ns - begin_.wall_ns);
            run.initiator_cpu = end_.own - begin_.own;
            run.target_cpu = end_.target - begin_.target;
        }
        run.complete = complete_ && failure_.empty();
        return run;
    }

    const Control& control_;
    const Timing& timing_;
    const Client::Watch& watch_;
    RunControl run_control_;
    std::vector<ThreadResult> results_;
    std::vector<std::thread> threads_;
    std::uint64_t started_ns_ = 0;
    Times begin_;
    Times end_;
    bool complete_ = false;
    std::string failure_;
};

}  // namespace

Client::Client(const std::string& host, int port)
    : control_(Socket::connect(host, port, kConnectTimeoutMs)) {
    control_.greet(kControlTimeoutMs);
}

nlohmann::json Client::describe_target() const {
    return control_.ask({{"do", request::kDescribe}});
}

Run Client::measure(const Case& point, const Timing& timing, const Watch& watch, Histogram& latency,
                    std::string& failure) {
    Run run;
    run.complete = false;
    try {
        const nlohmann::json opened = control_.ask({{"do", request::kOpen}, {"case", point}});
        const Endpoint to{address(), opened.at("port").get<std::string>()};
        const auto load = make_load(point, to, opened.at("access").get<RemoteAccess>());
        (void)control_.ask({{"do", request::kStart}});
        Measurement measurement(control_, point, timing, watch, *load);
        run = measurement.go();
        measurement.merge_latency(latency);
        failure = measurement.failure();
        if (!failure.empty()) {
            return run;
        }
        const nlohmann::json closed = control_.ask({{"do", request::kClose}});
        run.verified.add({closed.at("verified_bytes"), closed.at("mismatches")});
    } catch (const std::exception& error) {
        failure = error.what();
        run.complete = false;
    }
    if (run.verified.mismatches != 0) {
        failure = fmt::format("{} of {} verified bytes are wrong", run.verified.mismatches,
                              run.verified.bytes);
    }
    return run;
}

}  // namespace perf
