// The device allocators on a GPU, the seven operations that engines were measured at, and the floors of the same run.
//
// Each operation is timed three ways: `latency` is one call and a wait for it, `pipelined` is many calls and one wait,
// `device` is the GPU's own time for many calls, by events. What a call changed is undone outside of the time.
// What goes in is in device memory already, as in an engine. Page size 256, both pools 8,388,608 tokens.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "impl/cuda/cuda.hpp"
#include "impl/cuda/cuda_device.hpp"
#include "impl/device/device_pools.hpp"

namespace poolproof {
namespace {

constexpr Tokens page = 256;
constexpr Tokens pool_tokens = Tokens{1} << 23;
constexpr Tokens census_tokens = 44'482'560;
constexpr int pipelined_calls = 16;

Geometry geometry_of(Tokens tokens) {
  Geometry g;
  g.layout = Layout::hybrid;
  g.page = page;
  g.full = g.swa = tokens;
  g.window = 4096;
  return g;
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The GPU's time between two points of a stream.
class EventTimer {
 public:
  explicit EventTimer(cudaStream_t stream) : stream_(stream) {
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~EventTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer(EventTimer&&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  EventTimer& operator=(EventTimer&&) = delete;

  void begin() { cudaEventRecord(begin_, stream_); }
  double end_s() {
    cudaEventRecord(end_, stream_);
    cudaEventSynchronize(end_);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin_, end_);
    return static_cast<double>(ms) / 1e3;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_{};
  cudaEvent_t end_{};
};

/// One operation: call number `i` of a row of them, and what prepares and undoes such a row.
struct Operation {
  std::function<void()> prepare;
  std::function<void(int i)> call;
  int most_calls = pipelined_calls;
};

/// The device, and pools on it with 64 requests of 8,192 tokens' worth of arrays.
class Bed {
 public:
  static constexpr int requests = 64;
  static constexpr Tokens length = 8192;
  static constexpr int decodes = 256;

  Bed(const std::shared_ptr<CudaDevice>& device, Tokens tokens)
      : device_(device),
        pools_(device, geometry_of(tokens)),
        prefix_(decodes, 0),
        seq_(requests, length),
        decode_seq_(decodes, length + 1),
        device_prefix_(device, decodes, "prefix_lens"),
        device_seq_(device, requests, "seq_lens"),
        device_decode_seq_(device, decodes, "decode seq_lens"),
        device_last_(device, decodes, "last_locs"),
        out_(device, pipelined_calls * requests * length, "locs") {
    device_seq_.upload(seq_);
    // One decode in 256 begins a page, as where requests are of all lengths.
    for (int i = 0; i < decodes; ++i) {
      decode_seq_[static_cast<std::size_t>(i)] = length + 1 + i;
    }
    device_decode_seq_.upload(decode_seq_);
    std::vector<Loc> last(decodes, -1);
    device_last_.upload(last);
  }

  [[nodiscard]] DevicePools& pools() { return pools_; }
  [[nodiscard]] CudaDevice& device() { return *device_; }
  [[nodiscard]] Loc* out(int i) { return out_.data() + static_cast<Tokens>(i) * requests * length; }
  [[nodiscard]] Loc* row(int i, int request) { return out(i) + request * length; }

  void extend(int i) {
    const ExtendBatch batch{std::span(prefix_).first(requests), seq_, device_prefix_.data(), device_seq_.data(),
                            device_last_.data()};
    expect_served(pools_.alloc_extend(batch, out(i)));
  }
  /// 256 requests, each behind the last token of one that was extended.
  void prepare_decode() {
    refill(pipelined_calls / 2);
    std::vector<Loc> last(decodes);
    std::vector<Loc> locs(static_cast<std::size_t>(requests) * length);
    device_->download(locs.data(), out(0), locs.size() * sizeof(Loc));
    for (std::size_t i = 0; i < last.size(); ++i) {
      const Pos position = decode_seq_[i] - 2;
      last[i] = locs[(i % requests) * length + static_cast<std::size_t>(position % length)];
    }
    device_decode_last_ = DeviceArray<Loc>(device_, decodes, "last_locs of decode");
    device_decode_last_.upload(last);
  }
  void decode(int i) {
    const DecodeBatch batch{decode_seq_, device_decode_seq_.data(), device_decode_last_.data()};
    expect_served(pools_.alloc_decode(batch, out(i)));
  }
  /// As new, with `batches` of 64 requests lent.
  void refill(int batches) {
    pools_.clear();
    for (int i = 0; i < batches; ++i) {
      extend(i % pipelined_calls);
    }
    device_->synchronize();
  }
  static void expect_served(Answer answer) {
    if (answer != Answer::served) {
      std::fprintf(stderr, "gpu_bench: a call was refused: the benchmark is wrong\n");
      std::exit(3);
    }
  }

 private:
  std::shared_ptr<CudaDevice> device_;
  DevicePools pools_;
  std::vector<Pos> prefix_;
  std::vector<Pos> seq_;
  std::vector<Pos> decode_seq_;
  DeviceArray<Pos> device_prefix_;
  DeviceArray<Pos> device_seq_;
  DeviceArray<Pos> device_decode_seq_;
  DeviceArray<Loc> device_last_;
  DeviceArray<Loc> device_decode_last_;
  DeviceArray<Loc> out_;
};

enum class Timing { latency, pipelined, device };

void run(benchmark::State& state, Bed& bed, const Operation& operation, Timing timing) {
  const int calls = timing == Timing::latency ? 1 : operation.most_calls;
  EventTimer timer(bed.device().stream());
  for (auto _ : state) {
    operation.prepare();
    bed.device().synchronize();
    double elapsed_s = 0;
    if (timing == Timing::device) {
      timer.begin();
      for (int i = 0; i < calls; ++i) {
        operation.call(i);
      }
      elapsed_s = timer.end_s();
    } else {
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < calls; ++i) {
        operation.call(i);
      }
      bed.device().synchronize();
      elapsed_s = seconds_since(begin);
    }
    state.SetIterationTime(elapsed_s / calls);
  }
}

void add(const std::string& name, Bed& bed, const Operation& operation) {
  for (const auto& [suffix, timing] : {std::pair("latency", Timing::latency), std::pair("pipelined", Timing::pipelined),
                                       std::pair("device", Timing::device)}) {
    benchmark::RegisterBenchmark(
        (name + "/" + suffix).c_str(),
        [&bed, operation, timing = timing](benchmark::State& state) { run(state, bed, operation, timing); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(20)
        ->Repetitions(9)
        ->ReportAggregatesOnly();
  }
}

void add_floors(Bed& bed) {
  const auto nothing = [] {};
  const auto empty = [&bed](int) { bed.device().run(kernels::EmptyKernel{}, 1); };
  add("floor: empty kernel", bed, {nothing, empty, 64});
  auto graph = std::make_shared<std::unique_ptr<Recording>>(bed.device().record([empty] {
    for (int i = 0; i < 5; ++i) {
      empty(i);
    }
  }));
  add("floor: graph of five", bed, {nothing, [graph](int) { (*graph)->replay(); }, 64});
}

void add_operations(Bed& bed) {
  constexpr int most = pipelined_calls - 1;
  constexpr std::int64_t set_locs = Bed::requests * Bed::length;
  add("extend 64 x 8192", bed, {[&] { bed.refill(0); }, [&](int i) { bed.extend(i); }, most});
  add("decode 256", bed, {[&] { bed.prepare_decode(); }, [&](int i) { bed.decode(i); }, most});
  add("free_segment 8192", bed,
      {[&] { bed.refill(1); },
       [&](int i) {
         const DeviceSegment segment{bed.row(0, i), Bed::length};
         bed.pools().free_segments(Side::both, {&segment, 1});
       },
       64});
  add("free 524288", bed,
      {[&] { bed.refill(most); }, [&](int i) { bed.pools().free(Side::both, bed.out(i), set_locs); }, most});
  add("group of 64 free_segment 8192", bed,
      {[&] { bed.refill(8); },
       [&](int i) {
         bed.pools().free_group_begin();
         for (int request = 0; request < Bed::requests; ++request) {
           const DeviceSegment segment{bed.row(i, request), Bed::length};
           bed.pools().free_segments(Side::both, {&segment, 1});
         }
         bed.pools().free_group_end();
       },
       8});
  add("group of 64 segments, one call", bed,
      {[&] { bed.refill(most); },
       [&](int i) {
         std::vector<DeviceSegment> segments;
         for (int request = 0; request < Bed::requests; ++request) {
           segments.push_back({bed.row(i, request), Bed::length});
         }
         bed.pools().free_group_begin();
         bed.pools().free_segments(Side::both, segments);
         bed.pools().free_group_end();
       },
       most});
  add("free_swa 65536", bed,
      {[&] { bed.refill(2); }, [&](int i) { bed.pools().free(Side::swa, bed.row(i / 8, 8 * (i % 8)), 65536); }, 16});
  add("mapping clear 65536", bed,
      {[&] { bed.refill(1); }, [&](int) { bed.pools().clear_mapping(bed.out(0), 65536); }, 64});
}

/// Nearly all of the pool lent: every entry of the mapping then costs a look and a mark.
void add_census(const std::shared_ptr<CudaDevice>& device) {
  auto bed = std::make_shared<Bed>(device, census_tokens);
  bed->refill(static_cast<int>(census_tokens / (Bed::requests * Bed::length)));
  add("census 44482560", *bed, {[] {}, [bed](int) { bed->pools().launch_census(); }, 8});
  const std::size_t bytes = static_cast<std::size_t>(geometry_of(census_tokens).mapping_length()) * sizeof(Loc);
  auto from = std::make_shared<DeviceArray<std::byte>>(device, static_cast<std::int64_t>(bytes), "a copy's source");
  auto to = std::make_shared<DeviceArray<std::byte>>(device, static_cast<std::int64_t>(bytes), "a copy's target");
  add("floor: copy of its mapping's bytes", *bed,
      {[] {}, [bed, from, to, bytes](int) { bed->device().copy(to->data(), from->data(), bytes); }, 8});
}

int bench(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  auto opened = open_cuda(0);
  if (!opened) {
    std::fprintf(stderr, "gpu_bench: %s\n", opened.error().c_str());
    return 3;
  }
  const auto device = std::dynamic_pointer_cast<CudaDevice>(*opened);
  std::printf("%s\n", device->name().c_str());
  Bed bed(device, pool_tokens);
  add_floors(bed);
  add_operations(bed);
  add_census(device);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace poolproof

int main(int argc, char** argv) { return poolproof::bench(argc, argv); }
