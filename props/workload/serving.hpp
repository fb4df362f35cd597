// A serving engine's scheduler, simulated: from requests to the ops of its KV-cache pools.
//
// Continuous batching in event time. Each step takes in prompts (in chunks, as room and request slots allow), decodes
// one token, or several speculated ones, for every running request, and gives back what ended, was evicted from a
// window, rejected, aborted or retracted. A prefix cache keeps what ended requests leave, lends it to prompts that
// begin alike, and is evicted when room is needed. It keeps the rules of docs/semantics.md, section 7;
// docs/simulating.md tells the whole story. Everything follows from the options, the requests and what the machine
// determines, so the same seed makes the same trace on any implementation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "model/machine.hpp"
#include "model/ops.hpp"
#include "props/workload/features.hpp"
#include "props/workload/request.hpp"

namespace poolproof {

struct ServingOptions {
  Geometry geometry;
  ServingFeatures features;
  std::uint64_t seed = 1;
  std::uint64_t requests = 0;           ///< at most; 0: all
  std::uint64_t speed_permille = 1000;  ///< arrivals come this much faster
  Pos chunk_tokens = 8192;              ///< of prompts a step takes in
  std::uint32_t speculate = 0;          ///< tokens written ahead of each decoded one, some of them rejected
  std::uint32_t max_running = 256;      ///< requests; the geometry's request slots bound them too. 1..2048
  std::uint32_t abort_permille = 20;    ///< requests that are aborted
  std::uint32_t read_one_in = 16;       ///< one in so many forward passes of a request is read back; 0: none
};

inline constexpr std::uint32_t most_running = 2048;

/// What became of the requests, and what it took.
struct ServingCounts {
  std::uint64_t arrived = 0;
  std::uint64_t served = 0;
  std::uint64_t aborted = 0;
  std::uint64_t rejected = 0;    ///< longer than the pools could ever hold
  std::uint64_t retracted = 0;   ///< times a running request gave all back and started again
  std::uint64_t refusals = 0;    ///< of the allocator or of request slots
  std::uint64_t evictions = 0;   ///< of leaves of the prefix cache
  std::uint64_t tombstones = 0;  ///< SWA evictions of cached prefixes, in nodes
  std::uint64_t recoveries = 0;  ///< tombstones that got SWA pages again
  std::uint64_t steps = 0;
  Tokens prompt_tokens = 0;     ///< of the requests taken in
  Tokens cached_tokens = 0;     ///< of those, found in the prefix cache
  Tokens generated_tokens = 0;  ///< by requests that ended well
  Tokens rejected_tokens = 0;   ///< speculated in vain
};

enum class ServingEventKind : std::uint8_t { refusal, retraction, abort };

struct ServingEvent {
  ServingEventKind kind = ServingEventKind::refusal;
  std::uint64_t time_us = 0;
  std::string text;
};

/// How things stand when a step begins.
struct ServingMoment {
  std::uint64_t time_us = 0;
  std::size_t running = 0;
  std::size_t waiting = 0;
  Tokens unused_tokens = 0;  ///< lent behind the last token of each running request's last page
};

/// Told while the simulation runs; either may be empty.
struct ServingListener {
  std::function<void(const ServingMoment&, const Machine&)> step;
  std::function<void(ServingEvent)> event;
};

class Serving {
 public:
  Serving(const ServingOptions& options, RequestSource requests, ServingListener listener = {});
  ~Serving();
  Serving(Serving&&) noexcept;
  Serving& operator=(Serving&&) noexcept;
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  /// The next op, which `machine` admits as it stands, all ops before it having been carried out. Nothing when all
  /// requests are done and everything was given back, or when the workload's text is wrong.
  std::optional<Op> next(const Machine& machine);

  [[nodiscard]] const ServingCounts& counts() const;
  [[nodiscard]] std::uint64_t now_us() const;
  /// Why the requests ended early.
  [[nodiscard]] const std::optional<TextError>& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Nothing, or why these options can never run, as a sentence with the remedy.
std::optional<std::string> serving_fault(const ServingOptions& options);

/// Options whose features, speculation, chunks and batches are drawn too: each run another engine.
ServingOptions draw_serving(const ServingOptions& base, Choices& choices);

}  // namespace poolproof
