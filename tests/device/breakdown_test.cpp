// Faults that a GPU does not survive: in a process of their own they are verdicts, found and shrunk like any other, and
// the GPU is there for the next process.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "impl/bridge/external.hpp"
#include "impl/device/mutants/device_mutant.hpp"
#include "model/trace_text.hpp"
#include "props/campaign.hpp"

namespace poolproof {

/// For GoogleTest, which finds it by the type's namespace and prints bytes otherwise.
static void PrintTo(const DeviceMutant& mutant, std::ostream* out) { *out << mutant.facts.name; }

namespace {

std::string own_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

CampaignReport check(const ExternalImpl& impl, std::uint64_t traces) {
  CampaignOptions options;
  options.impls = {&impl.info};
  options.traces = traces;
  return run_campaign(options);
}

std::vector<DeviceMutant> fatal_mutants() {
  std::vector<DeviceMutant> fatal = device_mutants();
  std::erase_if(fatal, [](const DeviceMutant& mutant) { return !mutant.ends_in; });
  return fatal;
}

class FatalFault : public testing::TestWithParam<DeviceMutant> {
 protected:
  void SetUp() override {
    impl_ = find_impl("cuda:" + GetParam().facts.name);
    ASSERT_NE(impl_, nullptr);
    if (const auto missing = impl_->missing()) {
      GTEST_SKIP() << "skipped: " << *missing;
    }
  }

  const ImplInfo* impl_ = nullptr;
};

std::string fault_name(const testing::TestParamInfo<DeviceMutant>& info) {
  std::string name = "cuda_" + info.param.facts.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Zoo, FatalFault, testing::ValuesIn(fatal_mutants()), fault_name);

TEST_P(FatalFault, IsAVerdictAndIsShrunkInWorkersStartedAfresh) {
  ASSERT_TRUE(impl_->isolated) << "or it takes poolproof along";
  const ExternalImpl apart = isolated(*impl_, own_executable(), std::chrono::seconds(2));
  const CampaignReport report = check(apart, 50);
  const ImplOutcome& outcome = report.outcomes.at(0);
  ASSERT_EQ(outcome.could_not_run, "");
  ASSERT_TRUE(outcome.finding);
  const Verdict& verdict = outcome.finding->shrunk.verdict;
  const std::string trace = print_trace(outcome.finding->shrunk.trace);
  const auto* breakdown = std::get_if<Breakdown>(&verdict.cause);
  ASSERT_NE(breakdown, nullptr) << cause_id(verdict.cause) << ": " << verdict.what;
  EXPECT_EQ(breakdown->kind, *GetParam().ends_in) << verdict.what;
  if (breakdown->kind == BreakdownKind::raised) {
    EXPECT_EQ(breakdown->signature, "cudaErrorIllegalAddress");
    EXPECT_EQ(verdict.what.rfind("cudaErrorIllegalAddress"), verdict.what.find("cudaErrorIllegalAddress"))
        << "the error is named once: " << verdict.what;
    EXPECT_NE(verdict.what.find("free_set, write past memory on "), std::string::npos)
        << "the launches that can be to blame are named, the last one last: " << verdict.what;
  }
  EXPECT_TRUE(outcome.finding->reproduced);
  EXPECT_LE(outcome.finding->shrunk.trace.ops.size(), 4U) << trace;
  EXPECT_EQ(verdict.op, outcome.finding->shrunk.trace.ops.size()) << verdict.what << '\n' << trace;
  EXPECT_GT(apart.session->starts(), 3U);
  RecordProperty("starts", static_cast<int>(apart.session->starts()));

  const ExternalImpl right = isolated(*find_impl("cuda"), own_executable());
  const CampaignReport after = check(right, 20);
  EXPECT_EQ(after.outcomes.at(0).could_not_run, "");
  EXPECT_FALSE(after.outcomes.at(0).finding) << "the GPU did not recover";
}

TEST(FatalFaults, AreNotOfferedOnTheHostGridWhichTheyWouldTakeAlong) {
  const std::vector<DeviceMutant> fatal = fatal_mutants();
  EXPECT_EQ(fatal.size(), 2U);
  for (const DeviceMutant& mutant : fatal) {
    EXPECT_EQ(mutant.needs, NeedsDevice::gpu) << mutant.facts.name;
    EXPECT_NE(find_impl("cuda:" + mutant.facts.name), nullptr) << mutant.facts.name;
    EXPECT_EQ(find_impl("cuda-host:" + mutant.facts.name), nullptr) << mutant.facts.name;
  }
}

}  // namespace
}  // namespace poolproof
