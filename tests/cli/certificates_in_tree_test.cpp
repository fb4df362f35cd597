// The certificates of the released scopes: there for both twins, of scopes that are what they are called, and true, as
// far as a test run has the time.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/certificate.hpp"
#include "tests/cli/program.hpp"
#include "tests/golden/golden.hpp"

namespace poolproof::cli {
namespace {

std::string file_of(const std::string& impl, const Scope& scope) {
  return std::string(POOLPROOF_SOURCE_DIR) + "/fuzz/certificates/" + impl + "-" + scope.name + ".json";
}

TEST(CertificatesInTree, CoverEachReleasedScopeWhollyOnBothTwins) {
  for (const std::string impl : {"host", "cuda-host"}) {
    std::uint64_t states = 0;
    for (const Scope& scope : named_scopes()) {
      const Result<Certificate, std::string> certificate = certificate_from(file_text(file_of(impl, scope)));
      ASSERT_TRUE(certificate.ok()) << file_of(impl, scope) << ": " << certificate.error();
      EXPECT_EQ(certificate->scope, scope);
      EXPECT_EQ(certificate->impl, impl);
      EXPECT_TRUE(certificate->exhausted) << scope.name;
      states += certificate->states;
    }
    EXPECT_GE(states, 10'000'000U) << impl;
  }
}

TEST(CertificatesInTree, SmallOnesAreTrue) {
  std::vector<std::string> args{"explore"};
  for (const Scope& scope : small_scopes()) {
    const bool quick = scope.name != "hybrid-tiny" && scope.name != "ring-tiny";
#ifdef POOLPROOF_SANITIZED
    const bool on_host = quick;
#else
    const bool on_host = true;
#endif
    if (on_host) {
      args.insert(args.end(), {"--verify", file_of("host", scope)});
    }
    if (quick) {
      args.insert(args.end(), {"--verify", file_of("cuda-host", scope)});
    }
  }
  const Sandbox sandbox;
  const ProgramRun run = sandbox.run(args);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

}  // namespace
}  // namespace poolproof::cli
