use super::*;
use crate::sys::fake_root::FakeRoot;

const V1_MOUNT: &str = "34 28 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
const V1_MEMORY_MOUNT: &str = "35 28 0:30 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n";
const V2_MOUNT: &str = "41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const HYBRID_V2_MOUNT: &str = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
const ROOT_MOUNT: &str = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n";

const V1_DIRECTORY: &str = "sys/fs/cgroup/cpu,cpuacct";
const V2_DIRECTORY: &str = "sys/fs/cgroup";

#[test]
fn quotas_round_up_and_are_at_least_one() {
    let cases = [
        (1, 1),
        (50_000, 1),
        (99_999, 1),
        (100_000, 1),
        (100_001, 2),
        (150_000, 2),
        (200_000, 2),
        (200_001, 3),
        (250_000, 3),
        (299_999, 3),
        (300_000, 3),
        (1_000_000_000_000_u64, 10_000_000),
    ];
    for (quota, cpus) in cases {
        assert_eq!(v2(&format!("{quota} 100000\n")).limit(), Some(cpus), "version 2, quota {quota}");
        assert_eq!(v1(&format!("{quota}\n"), "100000\n").limit(), Some(cpus), "version 1, quota {quota}");
    }
}

#[test]
fn no_limit_is_none() {
    assert_eq!(v2("max 100000\n").limit(), None);
    assert_eq!(v1("-1\n", "100000\n").limit(), None);
}

#[test]
fn malformed_numbers_are_no_limit() {
    for text in [
        "",
        "\n",
        "100000",
        "100000\n",
        "max\n",
        "many 100000\n",
        "100000 often\n",
        "100000 0\n",
        "-100000 100000\n",
        "1e5 100000\n",
        "99999999999999999999999 100000\n",
        "200000 100000 300000\n",
    ] {
        assert_eq!(v2(text).limit(), None, "{text:?}");
    }
    for (quota, period) in [("", "100000\n"), ("x\n", "100000\n"), ("100000\n", ""), ("100000\n", "0\n")] {
        assert_eq!(v1(quota, period).limit(), None, "{quota:?} {period:?}");
    }
}

#[test]
fn a_missing_period_file_is_no_limit() {
    let tree = v1("200000\n", "100000\n");
    tree.remove("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us");
    assert_eq!(tree.limit(), None);
}

#[test]
fn nothing_mounted_or_no_proc_is_no_limit() {
    assert_eq!(Tree::new().limit(), None);
    assert_eq!(Tree::new().proc("0::/app\n", ROOT_MOUNT).limit(), None);
    assert_eq!(Tree::new().file("proc/self/mountinfo", V2_MOUNT).limit(), None);
    assert_eq!(Tree::new().file("proc/self/cgroup", "0::/app\n").limit(), None);
}

#[test]
fn the_strictest_level_of_the_path_counts() {
    let path = "sys/fs/cgroup/kube.slice/pod7/app";
    let tree = || Tree::new().proc("0::/kube.slice/pod7/app\n", V2_MOUNT);

    let parent_is_tighter = tree()
        .file(&format!("{path}/cpu.max"), "max 100000\n")
        .file(&format!("{path}/../cpu.max"), "200000 100000\n")
        .file(&format!("{path}/../../cpu.max"), "800000 100000\n");
    assert_eq!(parent_is_tighter.limit(), Some(2));

    let leaf_is_tighter = tree()
        .file(&format!("{path}/cpu.max"), "50000 100000\n")
        .file(&format!("{path}/../cpu.max"), "200000 100000\n");
    assert_eq!(leaf_is_tighter.limit(), Some(1));

    let only_the_top_is_limited = tree().file(&format!("{path}/../../cpu.max"), "700000 100000\n");
    assert_eq!(only_the_top_is_limited.limit(), Some(7));
}

#[test]
fn levels_above_count_in_version_1_too() {
    let tree = v1("-1\n", "100000\n")
        .file(&format!("{V1_DIRECTORY}/cpu.cfs_quota_us"), "150000\n")
        .file(&format!("{V1_DIRECTORY}/cpu.cfs_period_us"), "50000\n");
    assert_eq!(tree.limit(), Some(3));
}

#[test]
fn a_sibling_does_not_count() {
    let tree = v2("300000 100000\n").file(&format!("{V2_DIRECTORY}/other/cpu.max"), "100000 100000\n");
    assert_eq!(tree.limit(), Some(3));
}

#[test]
fn in_a_hybrid_the_hierarchy_with_the_controller_counts() {
    let mounts = [ROOT_MOUNT, V1_MEMORY_MOUNT, V1_MOUNT, HYBRID_V2_MOUNT].concat();
    let cgroups = "9:memory:/other\n4:cpu,cpuacct:/app\n1:name=systemd:/init\n0::/init\n";

    let in_version_1 = Tree::new()
        .proc(cgroups, &mounts)
        .file(&format!("{V1_DIRECTORY}/app/cpu.cfs_quota_us"), "400000\n")
        .file(&format!("{V1_DIRECTORY}/app/cpu.cfs_period_us"), "100000\n");
    assert_eq!(in_version_1.limit(), Some(4));

    let in_version_2 = Tree::new()
        .proc("9:memory:/other\n0::/init\n", &mounts)
        .file("sys/fs/cgroup/unified/init/cpu.max", "500000 100000\n");
    assert_eq!(in_version_2.limit(), Some(5));
}

#[test]
fn other_controllers_with_cpu_in_their_name_do_not_count() {
    let mounts = "36 28 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
    let tree = Tree::new()
        .proc("3:cpuset:/app\n2:cpuacct:/app\n", mounts)
        .file("sys/fs/cgroup/cpuset/app/cpu.cfs_quota_us", "100000\n")
        .file("sys/fs/cgroup/cpuset/app/cpu.cfs_period_us", "100000\n");
    assert_eq!(tree.limit(), None);
}

#[test]
fn escaped_mount_points_are_found() {
    let mount = r"41 31 0:38 / /mnt/my\040groups\134here rw - cgroup2 cgroup2 rw".to_owned() + "\n";
    let tree = Tree::new().proc("0::/a b:c\n", &mount).file(r"mnt/my groups\here/a b:c/cpu.max", "200000 100000\n");
    assert_eq!(tree.limit(), Some(2));
}

#[test]
fn escapes_are_three_octal_digits() {
    for (field, path) in [
        (r"/plain", "/plain"),
        (r"/a\040b", "/a b"),
        (r"/a\011\012b", "/a\t\nb"),
        (r"/a\134040b", r"/a\040b"),
        (r"\040\040", "  "),
        (r"/a\04", r"/a\04"),
        (r"/a\", r"/a\"),
        (r"/a\999b", r"/a\999b"),
        (r"/a\777b", r"/a\777b"),
        (r"/é\040é", "/é é"),
        (r"/a\é0b", r"/a\é0b"),
    ] {
        assert_eq!(unescape(field), Path::new(path), "{field}");
    }
}

#[test]
fn a_mount_of_a_subtree_takes_its_root_off_the_path() {
    let mount = "41 31 0:38 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    let tree = Tree::new()
        .proc("0::/docker/abc/app\n", mount)
        .file("sys/fs/cgroup/app/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_eq!(tree.limit(), Some(2));
}

#[test]
fn a_mount_that_does_not_show_the_cgroup_is_passed_over() {
    let others = "41 31 0:38 /docker/ab /mnt/other ro - cgroup2 cgroup rw\n";
    let tree = Tree::new().proc("0::/docker/abc\n", others).file("mnt/other/cpu.max", "100000 100000\n");
    assert_eq!(tree.limit(), None);

    let both = [others, "42 31 0:38 /docker /mnt/ours ro - cgroup2 cgroup rw\n"].concat();
    let tree = Tree::new()
        .proc("0::/docker/abc\n", &both)
        .file("mnt/other/cpu.max", "100000 100000\n")
        .file("mnt/ours/abc/cpu.max", "300000 100000\n");
    assert_eq!(tree.limit(), Some(3));
}

#[test]
fn mounts_are_read_again_only_if_they_do_not_show_the_cgroup() {
    let mounts = Mounts::new("cpu");
    let levels = |tree: &Tree| mounts.levels(tree.0.path()).len();
    let tree = Tree::new().proc("0::/docker/abc\n", "41 31 0:38 /docker /mnt/a ro - cgroup2 cgroup rw\n");
    assert_eq!(levels(&tree), 2);
    tree.remove("proc/self/mountinfo");
    assert_eq!(levels(&tree), 2);
    let tree = tree.proc("0::/other\n", "41 31 0:38 / /mnt/b ro - cgroup2 cgroup rw\n");
    assert_eq!(levels(&tree), 2);
}

#[test]
fn paths_above_the_namespace_stay_inside_the_mount() {
    let of_the_namespace =
        Tree::new().proc("0::/../neighbour\n", V2_MOUNT).file("sys/fs/neighbour/cpu.max", "100000 100000\n");
    assert_eq!(of_the_namespace.limit(), None);

    let of_its_parent = Tree::new()
        .proc("0::/../neighbour\n", "41 31 0:38 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .file("sys/fs/cgroup/neighbour/cpu.max", "200000 100000\n");
    assert_eq!(of_its_parent.limit(), Some(2));
}

#[test]
fn malformed_lines_do_not_hide_good_ones() {
    let mounts = ["\n", "41\n", "41 31 0:38 / - cgroup2\n", "a b c d e f - cgroup2\n", V2_MOUNT].concat();
    let tree = Tree::new()
        .proc("\n0\n0:\nnonsense\n0::/app\n", &mounts)
        .file(&format!("{V2_DIRECTORY}/app/cpu.max"), "200000 100000\n");
    assert_eq!(tree.limit(), Some(2));
}

#[test]
fn a_file_that_is_not_unicode_does_not_hide_good_lines() {
    let mut mounts = b"30 27 0:26 / /media/\xff\xfe rw - vfat /dev/sdb rw\n".to_vec();
    mounts.extend_from_slice(V2_MOUNT.as_bytes());
    let tree = v2("200000 100000\n").file("proc/self/mountinfo", mounts);
    assert_eq!(tree.limit(), Some(2));
}

#[test]
fn a_long_list_of_mounts_is_read_to_its_end() {
    let many = "50 27 0:50 / /var/lib/containers/overlay rw - overlay overlay rw,lowerdir=/a:/b:/c\n".repeat(2_000);
    let tree = v2("200000 100000\n").file("proc/self/mountinfo", many + V2_MOUNT);
    assert_eq!(tree.limit(), Some(2));
}

#[test]
fn throttling_is_summed_over_the_path_in_both_versions() {
    let in_version_2 = v2("max 100000\n")
        .file(
            &format!("{V2_DIRECTORY}/app/cpu.stat"),
            "usage_usec 9\nnr_periods 7\nnr_throttled 3\nthrottled_usec 1500\n",
        )
        .file(&format!("{V2_DIRECTORY}/cpu.stat"), "nr_throttled 2\nthrottled_usec 500\n");
    assert_eq!(in_version_2.throttling(), Throttling { periods: 5, time: Duration::from_millis(2) });

    let in_version_1 = v1("100000\n", "100000\n")
        .file(&format!("{V1_DIRECTORY}/app/cpu.stat"), "nr_periods 7\nnr_throttled 4\nthrottled_time 3000000\n");
    assert_eq!(in_version_1.throttling(), Throttling { periods: 4, time: Duration::from_millis(3) });
}

#[test]
fn what_cannot_be_read_is_no_throttling() {
    for text in ["", "nr_throttled\n", "nr_throttled many\n", "nr_throttled_2 5\n", "throttled_usec -1\n"] {
        let tree = v2("100000 100000\n").file(&format!("{V2_DIRECTORY}/app/cpu.stat"), text);
        assert_eq!(tree.throttling(), Throttling::default(), "{text:?}");
    }
    assert_eq!(Tree::new().throttling(), Throttling::default());
}

/// The process is in version 2's cgroup `/app`, which has this `cpu.max`.
fn v2(cpu_max: &str) -> Tree {
    Tree::new()
        .proc("0::/app\n", &[ROOT_MOUNT, V2_MOUNT].concat())
        .file(&format!("{V2_DIRECTORY}/app/cpu.max"), cpu_max)
}

/// The process is in version 1's cgroup `/app` of the `cpu` controller.
fn v1(quota: &str, period: &str) -> Tree {
    Tree::new()
        .proc("9:memory:/\n4:cpu,cpuacct:/app\n", &[ROOT_MOUNT, V1_MEMORY_MOUNT, V1_MOUNT].concat())
        .file(&format!("{V1_DIRECTORY}/app/cpu.cfs_quota_us"), quota)
        .file(&format!("{V1_DIRECTORY}/app/cpu.cfs_period_us"), period)
}

struct Tree(FakeRoot);

impl Tree {
    fn new() -> Tree {
        Tree(FakeRoot::new())
    }

    fn proc(self, cgroups: &str, mounts: &str) -> Tree {
        self.file("proc/self/cgroup", cgroups).file("proc/self/mountinfo", mounts)
    }

    fn file(self, path: &str, text: impl AsRef<[u8]>) -> Tree {
        Tree(self.0.file(path, text))
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.0.path().join(path)).unwrap();
    }

    fn limit(&self) -> Option<usize> {
        cpu_limit(self.0.path())
    }

    fn throttling(&self) -> Throttling {
        throttling_below(self.0.path())
    }
}
