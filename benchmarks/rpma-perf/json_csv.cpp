// SPDX-License-Identifier: BSD-3-Clause
#include "error.hpp"
#include "writers.hpp"

namespace perf {

std::string as_json(const Results& results) {
    return nlohmann::json(results).dump(1, ' ', true, nlohmann::json::error_handler_t::replace) +
           "\n";
}

std::string as_csv(const Results& results) {
    std::string out =
        "api,op,flush,size,queue_depth,batch,connections,threads,wait,verify,run,complete,"
        "operations,seconds,operations_per_s,bytes_per_s,min_ns,mean_ns,p50_ns,p90_ns,p99_ns,"
        "p99.9_ns,max_ns,initiator_cpu_s,target_cpu_s,cpu_wall_s\n";
    for (const Result& result : results.results) {
        const Case& point = result.point;
        std::size_t number = 0;
        for (const Run& run : result.runs) {
            const Latency& latency = run.latency;
            out += fmt::format(
                "{},{},{},{},{},{},{},{},{},{:d},{},{:d},{},{:.6f},{:.3f},{:.1f},{:.0f},{:.1f},"
                "{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.6f},{:.6f},{:.6f}\n",
                name_of(point.api), name_of(point.op), name_of(point.flush), point.size,
                point.queue_depth, point.batch, point.connections, point.threads,
                name_of(point.wait), point.verify, ++number, run.complete, run.operations,
                run.seconds, run.rate(), run.rate() * static_cast<double>(point.size), latency.min,
                latency.mean, latency.p50, latency.p90, latency.p99, latency.p999, latency.max,
                run.initiator_cpu.total(), run.target_cpu.total(), run.cpu_seconds);
        }
    }
    return out;
}

}  // namespace perf
