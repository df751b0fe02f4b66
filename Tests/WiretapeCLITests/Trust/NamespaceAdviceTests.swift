import Platform
import Testing
@testable import WiretapeCLI

@Suite struct NamespaceAdviceTests {
    @Test(
        arguments: [
            (NamespaceObstacle.Step.nothingToCover, 0, NamespaceFacts(), "no bundle", "ca-certificates"),
            (.unshareUser, EPERM, NamespaceFacts(maxUserNamespaces: 0), "user.max_user_namespaces is 0", "sysctl"),
            (.unshareUser, ENOSPC, NamespaceFacts(), "ENOSPC", "sysctl"),
            (.unshareUser, EPERM, NamespaceFacts(unprivilegedClone: 0), "kernel.unprivileged_userns_clone is 0", "root"),
            (.unshareUser, EPERM, NamespaceFacts(isRoot: true, seccomp: 2), "seccomp", "--cap-add SYS_ADMIN, and"),
            (.link, EPERM, NamespaceFacts(isRoot: true, seccomp: 2), "seccomp", "AF_NETLINK"),
            (.propagation, EACCES, NamespaceFacts(seccomp: 0, appArmorRestricts: 1), "apparmor", "root"),
            (.unshareUser, EPERM, NamespaceFacts(isRoot: true, seccomp: 0), "without CAP_SYS_ADMIN", "--cap-add SYS_ADMIN"),
            (.unshareUser, EPERM, NamespaceFacts(seccomp: 0), "unshare(CLONE_NEWUSER) failed with EPERM", "run as root"),
            (.unshare, ENOSYS, NamespaceFacts(isRoot: true), "unshare failed with ENOSYS", "root"),
            (.propagation, EINVAL, NamespaceFacts(isRoot: true), "chroot", "outside"),
            (.cover, ENOENT, NamespaceFacts(isRoot: true), "mounting a bundle over the system's failed with ENOENT", "root"),
            (.folder, 999, NamespaceFacts(isRoot: true), "error 999", "root"),
            (.unknown, 0, NamespaceFacts(isRoot: true), "trying it failed", "root"),
            (.unshare, ENOSPC, NamespaceFacts(maxNetworkNamespaces: 0), "user.max_net_namespaces is 0", "sysctl"),
            (.library, 0, NamespaceFacts(), "libnftables.so.1", "libnftables1"),
            (.rules, 0, NamespaceFacts(isRoot: true), "loading the rules of nftables failed", "nft_tproxy"),
        ] as [(NamespaceObstacle.Step, Int32, NamespaceFacts, String, String)])
    func obstacleIsNamedWithItsRemedy(
        step: NamespaceObstacle.Step, number: Int32, facts: NamespaceFacts, reason: String, remedy: String
    ) {
        let advice = NamespaceAdvice(NamespaceObstacle(step: step, number: number), facts)
        #expect(advice.reason.contains(reason), "\(advice)")
        #expect(advice.remedy.contains(remedy), "\(advice)")
        #expect(advice.refusal.contains(advice.reason) && advice.refusal.contains(advice.remedy))
        #expect(advice.refusal.contains("wiretape ca install") && advice.notice.contains("WIRETAPE_REVERSE"))
    }
}

@Suite struct NamespaceFactsTests {
    @Test func settingsOfTheKernelAreRead() {
        let files = [
            "/proc/self/status": "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n", "/proc/sys/user/max_user_namespaces": "96365\n",
            "/proc/sys/kernel/unprivileged_userns_clone": "0\n", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
        ]
        #expect(
            NamespaceFacts.read(isRoot: false) { files[$0] }
                == NamespaceFacts(isRoot: false, seccomp: 2, maxUserNamespaces: 96365, unprivilegedClone: 0, appArmorRestricts: 1))
    }

    @Test func missingSettingsAreNil() {
        #expect(NamespaceFacts.read(isRoot: true) { _ in nil } == NamespaceFacts(isRoot: true))
        #expect(NamespaceFacts.read(isRoot: true) { _ in "odd" } == NamespaceFacts(isRoot: true))
    }

    #if os(Linux)
    @Test func aFileOfTheKernelsIsReadThoughItSaysThatItIsEmpty() {
        #expect(NamespaceFacts.text("/proc/self/status")?.contains("Pid:") == true)
        #expect(NamespaceFacts.text("/proc/none") == nil)
    }
    #endif
}

@Suite struct NamespaceObstacleTests {
    @Test(arguments: NamespaceObstacle.Step.allCases) func aLineIsReadBack(step: NamespaceObstacle.Step) {
        let obstacle = NamespaceObstacle(step: step, number: 22)
        #expect(NamespaceObstacle(line: obstacle.line) == obstacle)
        let detailed = NamespaceObstacle(step: step, number: 0, detail: "Error: no such chain")
        #expect(NamespaceObstacle(line: detailed.line) == detailed)
    }

    @Test(arguments: ["", "cover", "cover x", "other 1"]) func noOtherLineIs(line: String) {
        #expect(NamespaceObstacle(line: line) == nil)
    }
}
