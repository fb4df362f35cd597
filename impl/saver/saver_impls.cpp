#include "impl/saver/saver_impls.hpp"

#include <algorithm>
#include <utility>

#include "impl/cuda/cuda.hpp"
#include "impl/host/guarded_allocator.hpp"
#include "impl/saver/host_memory.hpp"
#include "impl/saver/mutants/saver_mutants.hpp"

namespace poolproof {
namespace {

/// KV rows of one side, in the pools' buffers.
class SavedKvStore final : public KvStore {
 public:
  SavedKvStore(std::shared_ptr<SavedPools> pools, Pool side) : pools_(std::move(pools)), side_(side) {}

  [[nodiscard]] std::unique_ptr<KvStore> clone() const override {
    throw StorageError("pools in a memory saver are not copied", "saver:copied");
  }
  void store(std::span<const std::int64_t> rows, std::span<const Stamp> stamps) override {
    pools_->store(side_, rows, stamps);
  }
  void load(std::span<const std::int64_t> rows, std::span<Stamp> out) const override { pools_->load(side_, rows, out); }
  [[nodiscard]] std::span<const Stamp> rows() const override {
    throw StorageError("pools in a memory saver do not show their KV as a whole", "saver:shown");
  }

 private:
  std::shared_ptr<SavedPools> pools_;
  Pool side_;
};

/// Lists and mapping in this process's memory, KV in the pools.
class SaverStorage final : public Storage {
 public:
  SaverStorage(std::shared_ptr<SavedPools> pools, bool kv_elsewhere)
      : pools_(std::move(pools)), kv_elsewhere_(kv_elsewhere) {}

  [[nodiscard]] std::unique_ptr<PagePool> page_pool(Tokens size, Tokens page, bool need_sort) const override {
    return host_storage()->page_pool(size, page, need_sort);
  }
  [[nodiscard]] std::unique_ptr<Mapping> mapping(std::int64_t length) const override {
    return host_storage()->mapping(length);
  }
  [[nodiscard]] std::unique_ptr<KvStore> kv_store(Pool side, std::int64_t rows) const override {
    return kv_elsewhere_ ? host_storage()->kv_store(side, rows)
                         : std::unique_ptr<KvStore>(std::make_unique<SavedKvStore>(pools_, side));
  }
  [[nodiscard]] PoolMemory* memory() const override { return pools_.get(); }
  [[nodiscard]] const SavedPools& pools() const { return *pools_; }

 private:
  std::shared_ptr<SavedPools> pools_;
  bool kv_elsewhere_;
};

using OpenMemory = std::function<Result<std::shared_ptr<VirtualMemory>, std::string>()>;

/// Where an implementation's memory is.
struct MemoryKind {
  std::string name;
  std::string says;
  OpenMemory open;
  std::function<std::optional<std::string>()> missing;
};

MemoryKind on_host() {
  return {"saver", "the host twin with its KV in a memory saver's regions, on this process's memory",
          [] { return Result<std::shared_ptr<VirtualMemory>, std::string>(std::make_shared<HostMemory>()); },
          HostMemory::missing};
}

MemoryKind on_gpu() {
  return {"cuda-saver", "the host twin with its KV in a memory saver's regions, on a GPU",
          [] { return open_cuda_memory(0); }, cuda_missing};
}

/// A pool without memory has a sentence of its own.
std::optional<std::string> unbuildable(const ImplInfo& info, const Geometry& g) {
  if (g.kv.none() && !geometry_fault(g)) {
    return info.name + " builds the memory of its pools; give kv=mha, kv=mla or kv=dsa";
  }
  return unsuited(info, g);
}

void put_on(const MemoryKind& kind, const SaverParts& parts, ImplInfo& info) {
  info.memory = true;
  info.missing = kind.missing;
  info.make = [bare = info, open = kind.open,
               parts](const Geometry& g) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (auto fault = unbuildable(bare, g)) {
      return *std::move(fault);
    }
    Result<std::shared_ptr<VirtualMemory>, std::string> memory = open();
    if (!memory) {
      return memory.error();
    }
    return guarded([&]() -> std::unique_ptr<Allocator> {
      auto storage = std::make_shared<SaverStorage>(make_saved_pools(g, *memory, parts), parts.kv_elsewhere);
      std::unique_ptr<Allocator> twin = parts.twin ? parts.twin(g, storage) : std::move(make_host(g, storage)).value();
      return std::make_unique<GuardedAllocator>(std::move(twin));
    });
  };
}

ImplInfo right_impl(const MemoryKind& kind) {
  ImplInfo info;
  info.name = kind.name;
  info.mechanism = kind.says;
  info.supports = [](const Geometry& g) { return !g.kv.none(); };
  put_on(kind, {}, info);
  return info;
}

ImplInfo mutant_impl(const MemoryKind& kind, const std::string& prefix, const SaverMutant& mutant) {
  ImplInfo info = entry_of(mutant.facts);
  info.name = prefix + info.name;
  info.supports = [suits = mutant.facts.supports](const Geometry& g) { return !g.kv.none() && suits(g); };
  put_on(kind, mutant.parts, info);
  return info;
}

std::vector<ImplInfo> mutant_impls(const MemoryKind& kind, const std::string& prefix) {
  std::vector<ImplInfo> all;
  for (const SaverMutant& mutant : saver_mutants()) {
    all.push_back(mutant_impl(kind, prefix, mutant));
  }
  return all;
}

}  // namespace

std::shared_ptr<SavedPools> make_saved_pools(const Geometry& g, std::shared_ptr<VirtualMemory> memory,
                                             const SaverParts& parts) {
  const bool enabled = g.kv.saver != SaverMode::off;
  auto saver =
      parts.saver ? parts.saver(std::move(memory), enabled) : std::make_unique<MemorySaver>(std::move(memory), enabled);
  auto builder = parts.builder ? parts.builder() : std::make_unique<PoolBuilder>();
  return parts.pools ? parts.pools(g, std::move(saver), std::move(builder))
                     : std::make_shared<SavedPools>(g, std::move(saver), std::move(builder));
}

namespace {

std::optional<SaverParts> parts_of(std::string_view name) {
  for (const SaverMutant& mutant : saver_mutants()) {
    if (mutant.facts.name == name) {
      return mutant.parts;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Result<SaverTarget, std::string>> open_saver(std::string_view impl) {
  const MemoryKind gpu = on_gpu();
  const MemoryKind host = on_host();
  const std::string prefix = gpu.name + ":";
  const bool prefixed = impl.starts_with(prefix);
  const bool right = impl == host.name || impl == gpu.name;
  const std::optional<SaverParts> parts =
      right ? std::optional(SaverParts{}) : parts_of(prefixed ? impl.substr(prefix.size()) : impl);
  if (!parts) {
    return std::nullopt;
  }
  const bool on_device = prefixed || impl == gpu.name;
  const Result<std::shared_ptr<VirtualMemory>, std::string> memory = on_device ? gpu.open() : host.open();
  using Opened = Result<SaverTarget, std::string>;
  return memory ? Opened(SaverTarget{*parts, *memory}) : Opened(memory.error());
}

ImplInfo saver_on(const std::string& name, std::shared_ptr<VirtualMemory> memory, const SaverParts& parts) {
  ImplInfo info;
  info.name = name;
  info.supports = [](const Geometry& g) { return !g.kv.none(); };
  put_on({name,
          "",
          [memory = std::move(memory)] { return Result<std::shared_ptr<VirtualMemory>, std::string>(memory); },
          {}},
         parts, info);
  return info;
}

ImplInfo saver_impl() { return right_impl(on_host()); }
ImplInfo cuda_saver_impl() { return right_impl(on_gpu()); }
std::vector<ImplInfo> saver_mutant_impls() { return mutant_impls(on_host(), ""); }
std::vector<ImplInfo> cuda_saver_mutant_impls() { return mutant_impls(on_gpu(), "cuda-saver:"); }

const SavedPools& saved_pools(const Storage& storage) { return dynamic_cast<const SaverStorage&>(storage).pools(); }

}  // namespace poolproof
