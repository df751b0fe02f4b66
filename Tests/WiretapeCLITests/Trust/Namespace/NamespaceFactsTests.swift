import Testing

@testable import WiretapeCLI

@Suite struct NamespaceFactsTests {
    @Test func whatTheKernelSaysIsRead() {
        let files = [
            "/proc/self/status": "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n", "/proc/sys/user/max_user_namespaces": "96365\n",
            "/proc/sys/kernel/unprivileged_userns_clone": "0\n", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
        ]
        #expect(
            NamespaceFacts.read(isRoot: false) { files[$0] }
                == NamespaceFacts(isRoot: false, seccomp: 2, maxUserNamespaces: 96365, unprivilegedClone: 0, appArmorRestricts: 1))
    }

    @Test func whatItDoesNotSayIsNil() {
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
