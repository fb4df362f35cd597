#include "impl/script.hpp"

namespace poolproof {

void append_loc(LocRuns& runs, Loc loc, std::int32_t of) {
  if (!runs.empty()) {
    LocRun& last = runs.back();
    if (last.of == of && last.shift == LocRun::none && last.first + last.count == loc) {
      ++last.count;
      return;
    }
  }
  runs.push_back({loc, 1, of});
}

void append_shifted(LocRuns& runs, std::int32_t of, Loc index, Loc shift) {
  if (!runs.empty()) {
    LocRun& last = runs.back();
    if (last.of == of && last.first == index && last.shift != LocRun::none && last.shift + last.count == shift) {
      ++last.count;
      return;
    }
  }
  runs.push_back({index, 1, of, shift});
}

LocRuns literal_runs(std::span<const Loc> locs) {
  LocRuns runs;
  for (const Loc loc : locs) {
    append_loc(runs, loc);
  }
  return runs;
}

}  // namespace poolproof
