// A view of index-K that is kept by its address goes on reading the memory that was behind it before the pause, which
// is gone, until a flush drops the view (the address alone is no identity: fzyzcjy/torch_memory_saver#88). Needs: DSA.
// Expected first: KV_INTACT.
#include <algorithm>

#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

class IndexStale final : public SavedPools {
 public:
  using SavedPools::SavedPools;

  Answer build() override {
    seen_ = resumes();
    return SavedPools::build();
  }
  Answer flush() override {
    seen_ = resumes();
    return SavedPools::flush();
  }

 protected:
  void load_buffer(const BuiltBuffer& buffer, std::span<const std::int64_t> rows, std::span<Stamp> out) override {
    if (buffer.plan.part == BufferPart::index_k && seen_ != resumes()) {
      std::fill(out.begin(), out.end(), Stamp{0});
    } else {
      SavedPools::load_buffer(buffer, rows, out);
    }
  }

 private:
  std::uint64_t seen_ = 0;  ///< resumes when the view was taken
};

}  // namespace

SaverMutant saver_index_stale() {
  return {{.name = "saver-index-stale",
           .source = "fzyzcjy/torch_memory_saver#88",
           .mechanism = "after a resume index-K is read through a view of the memory before it, until a flush",
           .caught_by = {Invariant::kv_intact},
           .supports = pausable_index},
          with_pools<IndexStale>()};
}

}  // namespace poolproof
