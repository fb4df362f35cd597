// The tests; or, called as `worker --impl NAME --rank K`, a worker as the program's own, so that this executable can
// isolate an implementation wherever it was carried.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string_view>

#include "impl/bridge/serve.hpp"

namespace poolproof {
namespace {

int serve(std::span<char*> args) {
  const ImplInfo* impl = find_impl(args[3]);
  if (impl == nullptr) {
    return 2;
  }
  Server server(*impl, static_cast<std::uint32_t>(std::strtoul(args[5], nullptr, 10)));
  return serve_lines(server, std::cin, stdout) ? 2 : 0;
}

}  // namespace
}  // namespace poolproof

int main(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "worker") {
    return poolproof::serve({argv, static_cast<std::size_t>(argc)});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
