#include "impl/host/storage.hpp"

#include "impl/host/host_kv_store.hpp"
#include "impl/host/host_mapping.hpp"
#include "impl/host/host_page_pool.hpp"

namespace poolproof {
namespace {

class HostStorage final : public Storage {
 public:
  [[nodiscard]] std::unique_ptr<PagePool> page_pool(Tokens size, Tokens page, bool need_sort) const override {
    return std::make_unique<HostPagePool>(size, page, need_sort);
  }
  [[nodiscard]] std::unique_ptr<Mapping> mapping(std::int64_t length) const override {
    return std::make_unique<HostMapping>(length);
  }
  [[nodiscard]] std::unique_ptr<KvStore> kv_store(Pool /*side*/, std::int64_t rows) const override {
    return std::make_unique<HostKvStore>(rows);
  }
};

}  // namespace

std::shared_ptr<const Storage> host_storage() {
  static const std::shared_ptr<const Storage> only = std::make_shared<HostStorage>();
  return only;
}

}  // namespace poolproof
