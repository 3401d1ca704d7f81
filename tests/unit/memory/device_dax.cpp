// SPDX-License-Identifier: BSD-3-Clause
// Which files count as persistent memory, and how device DAX differs from them.
#include "memory/device_dax.hpp"

#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "cmocka.hpp"
#include "memory/persistence/files.hpp"
#include "memory/placement.hpp"
#include "pages.hpp"

using namespace fabric;
using namespace fabric::test;
using memory::persistence::FileMapping;
namespace fs = std::filesystem;

namespace {

// What /sys says of one character device, 252:7.
class Sysfs {
public:
    explicit Sysfs(const char* subsystem) {
        std::string name = (fs::temp_directory_path() / "test-sysfs-XXXXXX").string();
        assert_non_null(mkdtemp(name.data()));
        root_ = name;
        fs::create_directories(device() / "device");
        fs::create_directory_symlink(fs::path("../../../../bus") / subsystem,
                                     device() / "subsystem");
    }
    ~Sysfs() { fs::remove_all(root_); }
    Sysfs(const Sysfs&) = delete;
    Sysfs& operator=(const Sysfs&) = delete;

    void put(const char* name, const char* text) const { std::ofstream(device() / name) << text; }
    const char* root() const { return root_.c_str(); }

private:
    fs::path device() const { return root_ / "dev/char/252:7"; }
    fs::path root_;
};

const dev_t kDevice = makedev(252, 7);
constexpr std::uint64_t kUsual = 2U << 20;

void device_dax_is_recognized_by_its_subsystem(void**) {
    const Sysfs sysfs("dax");
    assert_true(memory::dax_alignment(kDevice, sysfs.root()) == kUsual);
    assert_false(memory::dax_alignment(makedev(252, 8), sysfs.root()).has_value());
    for (const char* other : {"mem", "infiniband_verbs", "notdax", "dax2"}) {
        assert_false(memory::dax_alignment(kDevice, Sysfs(other).root()).has_value());
    }
}

void its_alignment_is_read(void**) {
    const Sysfs sysfs("dax");
    sysfs.put("device/align", "1073741824\n");
    assert_true(memory::dax_alignment(kDevice, sysfs.root()) == 1U << 30);
    sysfs.put("align", "4096\n");
    assert_true(memory::dax_alignment(kDevice, sysfs.root()) == 4096U);
    for (const char* wrong : {"", "x", "0", "4097"}) {
        sysfs.put("align", wrong);
        assert_true(memory::dax_alignment(kDevice, sysfs.root()) == 1U << 30);
    }
}

void files_and_device_dax_count_other_devices_do_not(void**) {
    const Sysfs dax("dax");
    const Sysfs other("mem");
    struct stat file {};
    file.st_rdev = kDevice;
    file.st_mode = S_IFCHR;
    using memory::persistence::mappable_alignment;
    assert_true(mappable_alignment(file, dax.root()) == kUsual);
    assert_false(mappable_alignment(file, other.root()).has_value());
    file.st_mode = S_IFREG;
    assert_true(mappable_alignment(file, other.root()) == 1U);
    file.st_mode = S_IFBLK;
    assert_false(mappable_alignment(file, dax.root()).has_value());
}

void a_part_of_a_device_is_widened_to_what_can_be_mapped(void**) {
    FileMapping mapping{kUsual, 4 * kUsual, 0, 0, 0, "/dev/dax0.0", kUsual};
    auto part = memory::persistence::widened(mapping, 2 * kUsual + 4096, 2 * kUsual + 8192);
    assert_true(part.begin == 2 * kUsual && part.end == 3 * kUsual);
    part = memory::persistence::widened(mapping, 4096, 9 * kUsual);
    assert_true(part.begin == mapping.begin && part.end == mapping.end);
    mapping.alignment = 1;
    part = memory::persistence::widened(mapping, 2 * kUsual + 4096, 2 * kUsual + 8192);
    assert_true(part.begin == 2 * kUsual + 4096 && part.end == 2 * kUsual + 8192);
}

void a_flush_of_device_dax_needs_no_msync(void**) {
    const Mapping there(3, PROT_READ | PROT_WRITE);
    const memory::Region region{.shared_file = true, .device_dax = true};
#if defined(__x86_64__)
    assert_true(memory::flush({there.at(5), there.size() - 5, &region}, 2));
#endif
    assert_true(memory::flush({there.at(5), 0, &region}, 2));
    assert_true(memory::flush({there.at(5), 100, &region}, 1));
    there.unmap(1);
    assert_false(memory::flush({there.at(), there.size(), &region}, 2));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(device_dax_is_recognized_by_its_subsystem),
        cmocka_unit_test(its_alignment_is_read),
        cmocka_unit_test(files_and_device_dax_count_other_devices_do_not),
        cmocka_unit_test(a_part_of_a_device_is_widened_to_what_can_be_mapped),
        cmocka_unit_test(a_flush_of_device_dax_needs_no_msync),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
